// How far a double is from an exact number.
#pragma once

#include <cmath>
#include <limits>

namespace attnscale {

/// |found - exact| in units in the last place of `found`: at most 1/2 if `found` is the double
/// nearest to `exact`.
template <typename Number>
double units_between(double found, Number exact) {
  const double size = std::abs(found);
  const double unit = std::nextafter(size, std::numeric_limits<double>::infinity()) - size;
  return static_cast<double>(std::abs(found - exact)) / unit;
}

}  // namespace attnscale
