#include "theory/exact_pair.h"

#include <gtest/gtest.h>

#include <cmath>

#include "theory/exact_means_table.h"

namespace attnscale {
namespace {

using enum ExactMean;

// The difference of two scores is sqrt(2) |q| z; for d = 2 |q| z is a Laplace variable, whose
// absolute value is exponential: P(top > t) = t-odds ^ (-1 / (c sqrt(2))), E[margin] = c sqrt(2).
TEST(ExactPair, TwoKeysAtTwoNumbersHaveClosedForms) {
  ExactMeansTable table;
  for (const double c : {0.1, 1.0, 5.0}) {
    const ExactRequest request{2, {2}, c};
    for (const double t : {0.6, 0.9, 0.99, 0.999999}) {
      const double exact = std::exp(-std::log(t / (1 - t)) / (c * std::sqrt(2.0)));
      EXPECT_NEAR(exact_saturated(request, t).value(), exact, 1e-10) << c << " " << t;
    }
    EXPECT_NEAR(exact_means(table, request)[kMargin], c * std::sqrt(2.0), 1e-10);
  }
}

// |q| c is spread within 1e-6 of itself at d = 1e12.
TEST(ExactPair, TwoKeysOfGaussianLogitsHaveTheClosedLaw) {
  for (const double spread : {0.125, 1.0, 8.0}) {
    const ExactRequest request{1e12, {2}, spread / 1e6};
    const double t = 0.9;
    EXPECT_NEAR(exact_saturated(request, t).value(), std::erfc(std::log(9.0) / (2 * spread)), 1e-8);
  }
}

TEST(ExactPair, LawOfTheTopWeightIsOnlyGivenForPlainPairs) {
  EXPECT_FALSE(exact_saturated({64, {8}}, 0.99));
  EXPECT_FALSE(exact_saturated({64, {2, 30}}, 0.99));
  EXPECT_FALSE(exact_saturated({64, {2, kNoSoftcap, 0}}, 0.99));
  EXPECT_EQ(exact_saturated({64, {2}}, 0.3), 1);
  EXPECT_EQ(exact_saturated({64, {2}}, 1), 0);
  EXPECT_EQ(exact_saturated({16, {2}, 0}, 0.9), 0);
  EXPECT_FALSE(exact_saturated({3, {2}, -5, 0.01, ScoreLaw::kCosine}, 0.9));
}

}  // namespace
}  // namespace attnscale
