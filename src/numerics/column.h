// What a column of numbers is asked before it is summed, in vectors.
#pragma once

#include <limits>
#include <span>

namespace attnscale {

/// True if no number is infinite or NaN.
bool all_finite(std::span<const double> numbers);

/// The least and the largest number; of none infinity and -infinity.
struct Extremes {
  double least = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();
};

/// Of finite numbers. Which of the zeros 0 and -0 it gives is open.
Extremes extremes_of(std::span<const double> numbers);

}  // namespace attnscale
