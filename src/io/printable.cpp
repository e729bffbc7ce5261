#include "io/printable.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace attnscale {
namespace {

struct Character {
  std::size_t bytes;   // 0 if the text does not begin with a character of UTF-8
  std::uint32_t code;  // its number in Unicode
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (byte(0) < 0x80) return {1, byte(0)};
  const std::size_t size = byte(0) < 0xC2   ? 0
                           : byte(0) < 0xE0 ? 2
                           : byte(0) < 0xF0 ? 3
                           : byte(0) < 0xF5 ? 4
                                            : 0;
  std::uint32_t code = byte(0) & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {0, 0};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  return {size, code};
}

bool is_control(std::uint32_t code) {
  return code != '\n' && code != '\t' && (code < 0x20 || (code >= 0x7F && code < 0xA0));
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto [bytes, code] = first_character(text);
    if (bytes == 0) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (is_control(code)) {
      shown += fmt::format("\\u{:04x}", code);
    } else {
      shown += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return shown;
}

}  // namespace attnscale
