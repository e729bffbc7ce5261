// Means and central co-moments that merge without cancellation. Knows nothing of what is measured.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attnscale {

/// Mean and central co-moments of `dimension()` variables observed together `count` times.
///
/// `central` is the upper triangle, row by row, of the sums of products of deviations from the
/// mean, each in its variable's `unit`: 1 but where squares would overflow or underflow. Merging is
/// exact in real arithmetic and stable in floating point (Chan, Golub & LeVeque 1979); it is not
/// associative in floating point, so whoever merges must fix the order.
struct Moments {
  std::int64_t count = 0;
  std::vector<double> mean;
  std::vector<double> unit;  ///< powers of two
  std::vector<double> central;
  std::int64_t left_out = 0;  ///< times that are not in `count`, as a variable was not finite

  std::size_t dimension() const { return mean.size(); }

  /// Sum of products of deviations of variables i and j (divide by count - 1 for a covariance).
  double central_sum(std::size_t i, std::size_t j) const;

  /// Unbiased sample covariance of variables i and j; requires count >= 2.
  double covariance(std::size_t i, std::size_t j) const;

  /// Its root for i = j, and that over `count`: the standard error of the mean. Also where the
  /// squares would overflow or underflow.
  double sd(std::size_t i) const;
  double error_of_mean(std::size_t i) const;

  /// `central` in larger units.
  std::vector<double> central_in(const std::vector<double>& larger) const;

  friend bool operator==(const Moments&, const Moments&) = default;

 private:
  double variance_in_unit(std::size_t i) const;
};

/// Moments of `columns.size()` variables given as columns of equal length n >= 1, by two passes
/// with a summation order that depends on n alone.
Moments moments_of(std::span<const std::span<const double>> columns);

/// The same, but every time that one of the columns 0, `step`, 2 `step` ... is not finite is left
/// out. The means of no times are NaN.
Moments moments_of_finite(std::vector<std::span<const double>> columns, std::size_t step);

/// Moments of the union of two disjoint sets of observations; `later` follows `earlier`.
Moments merge(const Moments& earlier, const Moments& later);

}  // namespace attnscale
