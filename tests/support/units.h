// How far a double is from an exact number.
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>

namespace attnscale {

/// A number of 113 bits on every machine, where `long double` has 64, 113 or no more than double.
using Quad = boost::multiprecision::cpp_bin_float_quad;

/// |found - exact| in units in the last place of `found`: at most 1/2 if `found` is the double
/// nearest to `exact`.
template <typename Number>
double units_between(double found, Number exact) {
  using std::abs;
  const double size = abs(found);
  const double unit = std::nextafter(size, std::numeric_limits<double>::infinity()) - size;
  return static_cast<double>(abs(found - exact)) / unit;
}

}  // namespace attnscale
