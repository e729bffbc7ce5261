#include "theory/exact_crossing.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscale {
namespace {

using enum ExactMean;

// 99.58: from two independent quadratures in the project's notes.
TEST(ExactCrossing, EightKeysReachNineTenthsUnscaledAt9958) {
  ExactMeansTable table;
  EXPECT_NEAR(exact_crossing(table, {{8}}, 0.9).value(), 99.58, 0.005);
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
