#include "app/manifest.h"
#include "fuzz/targets.h"

namespace attnscale {

void fuzz_manifest(std::string_view bytes) {
  const auto manifest = parse_manifest(bytes);
  if (!manifest) return;
  const std::string text = to_json_text(*manifest);
  const auto again = parse_manifest(text);
  expect(again && to_json_text(*again) == text, "a manifest reads back as it was written");
}

}  // namespace attnscale
