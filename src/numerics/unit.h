// Powers of two to divide numbers by before they are squared: dividing is exact, so a unit changes
// no number but those whose powers would overflow or underflow without it.
#pragma once

#include <algorithm>
#include <cmath>

namespace attnscale {

/// The unit of numbers that are all 0: any other takes its place.
inline constexpr double kLeastUnit = 0x1p-1000;

/// The power of two at or below |number|, from kLeastUnit to 2^1000; 1 if it is not finite.
inline double unit_of(double number) {
  if (!std::isfinite(number)) return 1;
  if (number == 0) return kLeastUnit;
  return std::ldexp(1.0, std::clamp(std::ilogb(number), -1000, 1000));
}

}  // namespace attnscale
