// How a number is read, and how it is written for people. Files write numbers below 0.1 another
// way, see format_double in io/table.h.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace attnscale {

/// The shortest text that reads back as exactly `number`, fixed if both forms are as long:
/// "0.05", "-0.25", "0.001", "1e-04", "123456", "1e+05". Needs no locale.
std::string shortest(double number);

/// The same of `number` rounded to so many significant digits: "0.15" of 0.15000000000000002.
/// Scientific below 1e-4 and from 10^digits on in magnitude.
std::string shortest(double number, int digits);

/// The number that `text` as a whole spells, without a plus sign, in base 10 unless an integer is
/// given another; empty if it is not a number or too large for the type. Needs no locale.
template <typename Number, typename... Base>
std::optional<Number> parse_number(std::string_view text, Base... base) {
  Number number{};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, base...);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace attnscale
