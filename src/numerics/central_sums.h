// Count, mean and central power sums of numbers, up to the fourth, merged without cancellation.
#pragma once

#include <cstdint>
#include <span>

#include "numerics/unit.h"

namespace attnscale {

struct CentralSums {
  std::int64_t count = 0;
  double mean = 0;
  double unit = kLeastUnit;  ///< of the deviations below, a power of two near the largest
  double square = 0;         ///< sum ((x - mean) / unit)^2
  double cube = 0;           ///< sum ((x - mean) / unit)^3
  double fourth = 0;         ///< sum ((x - mean) / unit)^4

  /// Those of the numbers, in two passes over them.
  static CentralSums of(std::span<const double> numbers);

  /// Takes more numbers by the pairwise formulas of Pebay, "Formulas for robust, one-pass parallel
  /// computation of covariances and arbitrary-order statistical moments", Sandia report
  /// SAND2008-6212.
  void add(const CentralSums& added);
};

}  // namespace attnscale
