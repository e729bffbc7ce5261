#include "formula/number_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace attnscale {

std::vector<std::string> number_words(double number, double d) {
  constexpr double kMost = 1 << 20;  // that a number in words holds
  std::vector<std::string> words;
  const double magnitude = std::abs(number);
  if (!(magnitude > 1 / kMost && magnitude < kMost)) return words;
  const auto digits_of = [](double of, int digits) {
    return fmt::format("{:.{}e}", of, digits - 1);
  };
  int digits = 1;  // that it was written with
  while (std::stod(digits_of(magnitude, digits)) != magnitude) ++digits;
  // Either exactly, or by four digits and more.
  const auto add = [&](double exact, const std::string& text) {
    const bool looks_like = digits >= 4 && digits_of(exact, digits) == digits_of(magnitude, digits);
    if (exact == magnitude || looks_like) words.push_back((number < 0 ? "-" : "") + text);
  };
  // Of the inverse or root of an integer the simplest; 0.5 and 12 speak for themselves.
  const double square = magnitude * magnitude;
  if (digits > 2 && magnitude != std::round(magnitude)) {
    add(1 / std::round(1 / magnitude), fmt::format("1/{}", std::round(1 / magnitude)));
    if (words.empty())
      add(std::sqrt(std::round(square)), fmt::format("sqrt({})", std::round(square)));
    if (words.empty() && square > 1 / kMost) {
      add(1 / std::sqrt(std::round(1 / square)), fmt::format("1/sqrt({})", std::round(1 / square)));
    }
  }
  if (d <= 1) return words;
  add(1 / d, "1/d");
  add(1 / std::sqrt(d), "1/sqrt(d)");
  add(std::sqrt(d), "sqrt(d)");
  add(1 / std::cbrt(d), "1/cbrt(d)");
  return words;
}

}  // namespace attnscale
