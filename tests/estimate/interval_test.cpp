// Intervals from their formulas; Student's t and a fraction's are in estimate_test.cpp, and what
// they are worth in coverage_test.cpp.
#include "estimate/interval.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscale {
namespace {

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

// 4 of 20 queries are above the threshold under the one scaling only, 1 under the other only:
// Clopper and Pearson's intervals are [0.0573340, 0.4366140] and [0.0012651, 0.2487328] (SciPy).
TEST(PairedFractionInterval, JoinsThoseOfBothKinds) {
  const auto [low, high] = paired_fraction_interval(3.0 / 20, 5.0 / 20, 20);
  EXPECT_NEAR(low, 0.15 - std::hypot(0.2 - 0.0573340, 0.2487328 - 0.05), 1e-7);
  EXPECT_NEAR(high, 0.15 + std::hypot(0.4366140 - 0.2, 0.05 - 0.0012651), 1e-7);
}

// In how many of all tables of pairs, weighed by their probability, the interval has the difference
// of the chances of being in the one class alone, and in the other alone.
double paired_coverage(double more, double fewer, int queries) {
  const double rest = std::log(1 - more - fewer);
  double held = 0;
  for (int a = 0; a <= queries && (a == 0 || more > 0); ++a) {
    for (int b = 0; a + b <= queries && (b == 0 || fewer > 0); ++b) {
      const double log_chance = std::lgamma(queries + 1.0) - std::lgamma(a + 1.0) -
                                std::lgamma(b + 1.0) - std::lgamma(queries - a - b + 1.0) +
                                (a > 0 ? a * std::log(more) : 0) +
                                (b > 0 ? b * std::log(fewer) : 0) + (queries - a - b) * rest;
      if (log_chance < -20) continue;
      const double n = queries;
      const auto [low, high] = paired_fraction_interval((a - b) / n, (a + b) / n, queries);
      if (low <= more - fewer && more - fewer <= high) held += std::exp(log_chance);
    }
  }
  return held;
}

// Agresti and Min's holds the difference in 86 % of runs where two queries in a run are in the one
// class alone and none in the other.
TEST(PairedFractionInterval, HoldsTheDifferenceInNinetyFivePerCent) {
  for (const double more : {1.97, 5.6}) {
    for (const double fewer : {0.0, 2.0, 10.0}) {
      EXPECT_GE(paired_coverage(more / 100, fewer / 100, 100), 0.95) << more << " " << fewer;
    }
  }
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
