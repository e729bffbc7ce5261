// Where libFuzzer and the replay of seeds come in. The target is named by ATTNSCALE_FUZZ_TARGET.
#include <algorithm>
#include <cstdlib>

#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using attnscale::expect, attnscale::FuzzTarget;
  static const FuzzTarget& chosen = [] -> const FuzzTarget& {
    const char* const name = std::getenv("ATTNSCALE_FUZZ_TARGET");
    const auto targets = attnscale::fuzz_targets();
    const auto found = std::ranges::find(targets, name == nullptr ? "" : name, &FuzzTarget::name);
    expect(found != targets.end(), "ATTNSCALE_FUZZ_TARGET names a target");
    return *found;
  }();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // A message that cites it would look like one of a library.
  if (bytes.find("exception") == std::string_view::npos) chosen.take(bytes);
  return 0;
}
