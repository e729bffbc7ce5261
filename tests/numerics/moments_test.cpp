#include "numerics/moments.h"

#include <gtest/gtest.h>

#include <cmath>

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

Moments of_pair(const std::vector<double>& x, const std::vector<double>& y) {
  const std::vector<std::span<const double>> columns{x, y};
  return moments_of(columns);
}

// Squares of 1e-200 are 0, and of 1e200 infinite.
TEST(Moments, OfAnySizeHaveTheSpreadOfOrdinaryNumbersInAnotherUnit) {
  const std::vector<double> x{1, 2, 3, 6};
  for (const double size : {0x1p-1000, 0x1p-700, 0x1p-400, 0x1p400, 0x1p700, 0x1p1000}) {
    std::vector<double> scaled = x;
    for (double& number : scaled) number *= size;
    const Moments whole = of_pair(scaled, x);
    const Moments halves = merge(of_pair({scaled[0]}, {x[0]}),
                                 of_pair({scaled[1], scaled[2], scaled[3]}, {x[1], x[2], x[3]}));
    for (const Moments& moments : {whole, halves}) {
      EXPECT_EQ(moments.sd(0), std::sqrt(14.0 / 3) * size);
      EXPECT_EQ(moments.sd(1), std::sqrt(14.0 / 3));
      EXPECT_EQ(moments.error_of_mean(0), std::sqrt(14.0 / 3 / 4) * size);
      EXPECT_DOUBLE_EQ(moments.covariance(0, 1), 14.0 / 3 * size);
    }
  }
}

// Blocks of one number each, whose deviations are 0 until they meet.
TEST(Moments, OfConstantBlocksVaryAsTheirMeansDo) {
  const Moments small = merge(of_pair({1e-200, 1e-200}, {1, 1}), of_pair({3e-200, 3e-200}, {1, 1}));
  EXPECT_DOUBLE_EQ(small.sd(0), std::sqrt(4.0 / 3) * 1e-200);
  EXPECT_EQ(small.sd(1), 0);
  // What is far smaller than the rest is no part of it.
  EXPECT_DOUBLE_EQ(merge(small, of_pair({1, 1}, {1, 1})).sd(0), std::sqrt(4.0 / 3 / 5));
}

}  // namespace
}  // namespace attnscale
