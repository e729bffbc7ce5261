#include "io/table.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "numerics/shortest.h"

namespace attnscale {
namespace {

constexpr std::uint32_t kReplacementCharacter = 0xFFFD;

/// The text of a value as it stands in a file; nothing for a value that does not exist.
std::optional<std::string> text_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) {
    if (std::isfinite(*number)) return format_double(*number);
  }
  return std::nullopt;
}

void append_csv_field(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

/// Takes one code point off the front of `text`: U+FFFD and one byte where it is not valid UTF-8.
std::uint32_t take_code_point(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80             ? 1
                             : (lead & 0xE0) == 0xC0 ? 2
                             : (lead & 0xF0) == 0xE0 ? 3
                             : (lead & 0xF8) == 0xF0 ? 4
                                                     : 0;
  std::uint32_t code = length == 1 ? lead : lead & (0x7Fu >> length);
  bool valid = length != 0 && length <= text.size();
  for (std::size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xC0) == 0x80;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  // The least code point of each length: anything smaller is an overlong form.
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  valid = valid && code >= kLeast[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  text.remove_prefix(valid ? length : 1);
  return valid ? code : kReplacementCharacter;
}

void append_utf16_escape(std::string& out, std::uint32_t unit) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[unit >> shift & 0xF];
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::uint32_t code = take_code_point(text);
    if (code == '"' || code == '\\') {
      out += '\\';
      out += static_cast<char>(code);
    } else if (code >= 0x20 && code < 0x7F) {
      out += static_cast<char>(code);
    } else if (code < 0x10000) {
      append_utf16_escape(out, code);
    } else {
      append_utf16_escape(out, 0xD800 + ((code - 0x10000) >> 10));
      append_utf16_escape(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
    }
  }
  out += '"';
}

void append_json_value(std::string& out, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    append_json_string(out, *text);
  } else {
    out += text_of(value).value_or("null");
  }
}

}  // namespace

std::string format_double(double number) {
  if (number == 0 || std::abs(number) >= 0.1) return shortest(number);
  std::array<char, 32> text;
  const std::to_chars_result end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific);
  return {text.data(), end.ptr};
}

std::string to_csv(const Table& table) {
  std::string out;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i > 0) out += ',';
    append_csv_field(out, table.columns[i]);
  }
  out += '\n';
  for (const std::vector<Value>& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += ',';
      append_csv_field(out, text_of(row[i]).value_or(""));
    }
    out += '\n';
  }
  return out;
}

std::string to_json(const Table& table) {
  if (table.rows.empty()) return "[]\n";
  std::string out = "[";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    out += r == 0 ? "\n{" : ",\n{";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (i > 0) out += ',';
      append_json_string(out, table.columns[i]);
      out += ':';
      append_json_value(out, table.rows[r][i]);
    }
    out += '}';
  }
  out += "\n]\n";
  return out;
}

}  // namespace attnscale
