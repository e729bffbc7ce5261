#include "io/printable.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
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

struct CodeRange {
  std::uint32_t first;
  std::uint32_t last;
};

// Those of ASCII and Latin-1; marks that turn the direction of text, ends of lines and paragraphs,
// and characters without a width, which make one name look like another. U+200C and U+200D, which
// part and join letters, are left: some scripts need them.
constexpr std::array kControls{
    CodeRange{0, 0x1F},        CodeRange{0x7F, 0x9F},     CodeRange{0xAD, 0xAD},
    CodeRange{0x61C, 0x61C},   CodeRange{0x200B, 0x200B}, CodeRange{0x200E, 0x200F},
    CodeRange{0x2028, 0x202E}, CodeRange{0x2060, 0x206F}, CodeRange{0xFEFF, 0xFEFF},
};

bool is_control(std::uint32_t code) {
  return std::ranges::any_of(kControls, [code](const CodeRange& range) {
    return code >= range.first && code <= range.last;
  });
}

std::string without_controls(std::string_view text, std::string_view but) {
  std::string shown;
  while (!text.empty()) {
    const auto [bytes, code] = first_character(text);
    if (bytes == 0) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (is_control(code) && but.find(text.front()) == std::string_view::npos) {
      shown += fmt::format("\\u{:04x}", code);
    } else {
      shown += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return shown;
}

}  // namespace

std::string printable(std::string_view text) {
  return without_controls(text, "\n\t");
}

std::string in_one_line(std::string_view text) {
  return without_controls(text, "");
}

std::string shell_word(std::string_view word) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_./-+:,@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return std::string(word);
  const bool has_control = in_one_line(word) != word;
  std::string quoted = has_control ? "$'" : "'";
  for (const char c : word) {
    const bool is_special = has_control && (c < ' ' || c > '~' || c == '\\' || c == '\'');
    if (is_special) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
  }
  return quoted + "'";
}

}  // namespace attnscale
