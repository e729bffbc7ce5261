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
  chosen.take({reinterpret_cast<const char*>(data), size});
  return 0;
}
