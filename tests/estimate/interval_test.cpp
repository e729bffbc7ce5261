// Intervals from their formulas; Student's t and a fraction's are in estimate_test.cpp, and what
// they are worth in coverage_test.cpp.
#include "estimate/interval.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscale {
namespace {

const double kNormalQuantile = 1.959963984540054;

TEST(StudentInterval, ReachesAsFarOnEitherSide) {
  const auto [low, high] = student_interval({3, 0.5}, 11);
  EXPECT_NEAR(high, 3 + 2.228139 * 0.5, 1e-6);
  EXPECT_NEAR(low, 3 - 2.228139 * 0.5, 1e-6);
}

TEST(LogInterval, IsStudentsOnTheLogarithmAboveTheFloor) {
  const auto [low, high] = log_interval({3, 0.5}, 1, 11);
  EXPECT_NEAR(std::log(high - 1), std::log(2) + 2.228139 * 0.25, 1e-6);
  EXPECT_NEAR(std::log(low - 1), std::log(2) - 2.228139 * 0.25, 1e-6);
}

TEST(LogInterval, StaysAboveTheFloorHoweverLargeTheError) {
  EXPECT_GT(log_interval({1.5, 10}, 1, 5).low, 1 - 1e-12);
  const Interval at_floor = log_interval({1, 0.5}, 1, 11);
  EXPECT_EQ(at_floor.low, student_interval({1, 0.5}, 11).low);
}

// 4 of 20 queries are above the threshold under the one scaling only, 1 under the other only: with
// half a query more in each of the four cells 4.5, 1.5 and 22 in all.
TEST(PairedFractionInterval, IsAgrestiAndMins) {
  const auto [low, high] = paired_fraction_interval(3.0 / 20, 5.0 / 20, 20);
  const double middle = (4.5 - 1.5) / 22;
  const double error = std::sqrt(4.5 + 1.5 - 3.0 * 3.0 / 22) / 22;
  EXPECT_NEAR(low, middle - kNormalQuantile * error, 1e-14);
  EXPECT_NEAR(high, middle + kNormalQuantile * error, 1e-14);
}

TEST(PairedFractionInterval, IsNeverEmptyNorBeyondOne) {
  const auto [low, high] = paired_fraction_interval(0, 0, 20);
  EXPECT_LT(low, 0);
  EXPECT_GT(high, 0);
  EXPECT_EQ(paired_fraction_interval(1, 1, 3).high, 1);
  EXPECT_EQ(paired_fraction_interval(-1, 1, 3).low, -1);
}

}  // namespace
}  // namespace attnscale
