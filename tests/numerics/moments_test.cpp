#include "numerics/moments.h"

#include <gtest/gtest.h>

namespace attnscale {
namespace {

TEST(Moments, MergedHalvesEqualTheWholeComputedByHand) {
  const std::vector<double> x{1, 2, 3, 6};
  const std::vector<double> y{2, 0, 1, 5};
  const auto whole = [](std::span<const double> a, std::span<const double> b) {
    const std::vector<std::span<const double>> columns{a, b};
    return moments_of(columns);
  };
  const Moments merged = merge(whole(std::span(x).first(1), std::span(y).first(1)),
                               whole(std::span(x).subspan(1), std::span(y).subspan(1)));
  EXPECT_EQ(merged.count, 4);
  EXPECT_DOUBLE_EQ(merged.mean[0], 3);
  EXPECT_DOUBLE_EQ(merged.mean[1], 2);
  // Deviations of x: -2 -1 0 3; of y: 0 -2 -1 3.
  EXPECT_DOUBLE_EQ(merged.central_sum(0, 0), 14);
  EXPECT_DOUBLE_EQ(merged.central_sum(1, 1), 14);
  EXPECT_DOUBLE_EQ(merged.central_sum(0, 1), 11);
  EXPECT_DOUBLE_EQ(merged.central_sum(1, 0), 11);
  EXPECT_DOUBLE_EQ(merged.covariance(0, 1), 11.0 / 3);
}

TEST(Moments, LargeOffsetLosesNoDigits) {
  // The variance of {1, 2, 3, 6} is 14/3 wherever the numbers sit.
  const std::vector<double> x{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 6};
  const std::vector<std::span<const double>> columns{x};
  EXPECT_DOUBLE_EQ(moments_of(columns).covariance(0, 0), 14.0 / 3);
}

}  // namespace
}  // namespace attnscale
