// Texts in a row.
#pragma once

#include <string>
#include <string_view>

namespace attnscale {

/// "a, b, c".
template <typename Texts>
std::string join(const Texts& texts, std::string_view between = ", ") {
  std::string all;
  for (const std::string_view text : texts) {
    if (!all.empty()) all += between;
    all += text;
  }
  return all;
}

}  // namespace attnscale
