#include "report/number_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace attnscale {
namespace {

constexpr double kTiny = 1e-4;
constexpr double kHuge = 1e6;
constexpr int kMostPlaces = 6;

std::string scientific(double number, int places) {
  return fmt::format("{:.{}e}", number, places);
}

// The exponent of `number` in scientific form once rounded to `digits`: 9.99 to two digits has 1.
int decimal_exponent(double number, int digits) {
  const std::string text = scientific(number, digits - 1);
  return static_cast<int>(std::strtol(&text[text.find('e') + 1], nullptr, 10));
}

}  // namespace

std::string rounded(double number, int digits) {
  if (number == 0) return "0";
  if (std::isnan(number)) return "nan";  // whose sign says nothing
  if (std::abs(number) < kTiny || std::abs(number) >= kHuge) return scientific(number, digits - 1);
  return with_places(number, std::max(0, digits - 1 - decimal_exponent(number, digits)));
}

std::string rounded_short(double number, int digits) {
  std::string text = rounded(number, digits);
  const std::size_t exponent = std::min(text.find('e'), text.size());
  if (text.find('.') >= exponent) return text;
  const std::string tail = text.substr(exponent);
  text.resize(exponent);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + tail;
}

std::string with_places(double number, int places) {
  return fmt::format("{:.{}f}", number, places);
}

std::string seconds_text(double seconds) {
  return seconds < 0.01 ? "< 0.01" : with_places(seconds, seconds < 10 ? 2 : 0);
}

std::string slope_text(double slope) {
  return rounded(slope, slope < 0.001 ? 2 : 3);
}

std::string estimate_and_error(double estimate, double error, ErrorForm form) {
  const bool is_short = form == ErrorForm::kLastDigits;
  if (error == 0) return rounded_short(estimate, 6) + (is_short ? "(0)" : " +- 0");
  const double larger = std::max(std::abs(estimate), error);
  if (!std::isfinite(larger)) return rounded_short(estimate, 6);
  if (larger < kTiny || larger >= kHuge) {
    const int exponent = decimal_exponent(larger, 2);
    const double unit = std::pow(10.0, exponent);
    const std::string text = estimate_and_error(estimate / unit, error / unit, form);
    return fmt::format("{}e{:+03}", is_short ? text : "(" + text + ")", exponent);
  }
  const int places = std::max(0, 1 - decimal_exponent(error, 2));
  if (places <= kMostPlaces + (is_short ? 3 : 0)) {
    std::string digits = with_places(error, places);
    if (!is_short) return with_places(estimate, places) + " +- " + digits;
    if (error < 1) digits.erase(0, digits.find_first_not_of("0."));
    return fmt::format("{}({})", with_places(estimate, places), digits);
  }
  return with_places(estimate, kMostPlaces) + " +- " + scientific(error, 1);
}

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first_digit = number < 0 ? 1 : 0;
  for (std::size_t i = text.size(); i > first_digit + 3;) {
    i -= 3;
    text.insert(i, 1, ',');
  }
  return text;
}

}  // namespace attnscale
