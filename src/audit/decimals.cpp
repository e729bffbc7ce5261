#include "audit/decimals.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace attnscale {
namespace {

constexpr std::size_t kFewestNumbers = 8;  // numbers that tell
constexpr double kTold = 0.1;  // of a step: how well the bits of a number tell its digits

double power_of_ten(int exponent) {
  double power = 1;
  for (int i = 0; i < std::abs(exponent); ++i) power *= 10;
  return exponent < 0 ? 1 / power : power;
}

// So that number / 10^exponent is from 1 to 10.
int exponent_of(double number) {
  int exponent = 0;
  for (; number >= power_of_ten(exponent + 1); ++exponent) continue;
  for (; number < power_of_ten(exponent); --exponent) continue;
  return exponent;
}

double last_digit(double number, int significant) {
  return power_of_ten(exponent_of(number) + 1 - significant);
}

// True if the number, in units of its last digit, is whole as far as its bits tell.
bool is_whole(double scaled, int bits) {
  return std::abs(scaled - std::nearbyint(scaled)) <= 4 * std::ldexp(scaled, -bits);
}

bool hold_places(const std::vector<double>& numbers, int bits, int places) {
  const double scale = power_of_ten(places);
  std::size_t telling = 0;
  for (const double number : numbers) {
    const double scaled = number * scale;
    if (4 * std::ldexp(scaled, -bits) > kTold) continue;
    if (!is_whole(scaled, bits)) return false;
    ++telling;
  }
  return telling >= kFewestNumbers && 4 * telling >= numbers.size();
}

}  // namespace

double DecimalWriting::step() const {
  return places ? power_of_ten(-*places) : 0;
}

double DecimalWriting::error(double number) const {
  const double cut = significant ? last_digit(number, *significant) : step();
  return cut / std::sqrt(12.0);
}

std::string DecimalWriting::words() const {
  return places ? fmt::format("writing {} decimals", *places)
                : fmt::format("writing {} digits", significant.value_or(0));
}

DecimalWriting decimal_writing(std::vector<double> numbers, int bits, int least_places) {
  constexpr int kMostPlaces = 9;
  constexpr int kMostDigits = 8;
  if (numbers.size() < kFewestNumbers) return {};
  int places = least_places;
  while (places <= kMostPlaces && !hold_places(numbers, bits, places)) ++places;
  // Digits in all leave the last places to small numbers.
  std::ranges::sort(numbers);
  const auto middle = numbers.begin() + std::ssize(numbers) / 2;
  const bool are_places =
      places <= kMostPlaces && !hold_places({middle, numbers.end()}, bits, places - 1);
  if (are_places) return {.places = places};
  for (int digits = 2; digits <= kMostDigits; ++digits) {
    if (4 * std::ldexp(power_of_ten(digits), -bits) > kTold) break;
    if (std::ranges::all_of(numbers, [&](double number) {
          return is_whole(number / last_digit(number, digits), bits);
        })) {
      return {.significant = digits};
    }
  }
  if (places <= kMostPlaces) return {.places = places};
  return {};
}

}  // namespace attnscale
