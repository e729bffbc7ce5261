#include "theory/exact_crossing.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscale {
namespace {

using enum ExactMean;

// By integrating the density of the top key against that of |q| with 20-point panels in NumPy,
// which gives the mean 0.9000000000 at d = 99.58144 and 0.9000002844 at 99.582.
TEST(ExactCrossing, EightKeysReachNineTenthsUnscaledAt9958) {
  ExactMeansTable table;
  EXPECT_NEAR(exact_crossing(table, {{8}}, 0.9).value(), 99.58144, 1e-4);
}

TEST(ExactCrossing, WalksUpToTheFirstOfTwoCrossings) {
  Walk walk{0, 4, 16};
  const auto parabola = [](double x) { return x * (4 - x); };  // 3 at 1 and at 3
  EXPECT_NEAR(first_crossing(parabola, 3, walk).value(), 1, 1e-10);
  EXPECT_NEAR(first_crossing(parabola, 1.75, walk).value(), 0.5, 1e-10);
  EXPECT_FALSE(first_crossing(parabola, 5, walk));
  EXPECT_EQ(walk.values.size(), 17u);  // shared by all levels
}

TEST(ExactCrossing, IsWhereTheMeanTopWeightIsTheLevel) {
  ExactMeansTable table;
  for (const double level : {0.5, 0.9, 0.99}) {
    for (const double power : {0.0, -0.3}) {
      const double d = exact_crossing(table, {{8}, 1, power}, level).value();
      const ExactMeans mean = exact_means(table, {d, {8}, std::pow(d, power)});
      EXPECT_NEAR(mean[kTopWeight], level, 1e-10) << level << " " << power;
    }
  }
}

TEST(ExactCrossing, IsFoundFromAboveToo) {
  ExactMeansTable table;
  const double d = exact_crossing(table, {{8}, 100, -1}, 0.9).value();
  EXPECT_NEAR(exact_means(table, {d, {8}, 100 / d})[kTopWeight], 0.9, 1e-10);
  EXPECT_GT(exact_means(table, {d / 2, {8}, 200 / d})[kTopWeight], 0.9);
}

TEST(ExactCrossing, IsNothingWhereTheLevelIsNeverReached) {
  ExactMeansTable table;
  EXPECT_FALSE(exact_crossing(table, {{8}, 1, -0.5}, 0.5));
  EXPECT_FALSE(exact_crossing(table, {{8}, 1, -1}, 0.5));
  EXPECT_FALSE(exact_crossing(table, {{2}}, 0.4));     // above it from the start
  EXPECT_FALSE(exact_crossing(table, {{8, 1}}, 0.9));  // a cap of 1 holds it below
}

}  // namespace
}  // namespace attnscale
