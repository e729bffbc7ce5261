#include "theory/exact_logit_moments.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscale {
namespace {

// Softcapped normal entries at d = 2: the score is Laplace(0, 1), so that E tanh^2 is an integral
// in one dimension, by Simpson's rule here (error 1e-10).
TEST(ExactLogitMoments, MomentsOfSoftcappedLogitsFollowTheLaplaceLawAtTwoNumbers) {
  for (const double cap : {0.5, 3.0, 50.0}) {
    const int steps = 40000;
    const double reach = 40;
    double second = 0;
    double fourth = 0;
    for (int i = 0; i <= steps; ++i) {
      const double x = reach * i / steps;
      const double simpson = i == 0 || i == steps ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
      const double weight = simpson * (reach / steps / 3) * std::exp(-x);
      const double logit = cap * std::tanh(2 * x / cap);
      second += weight * std::pow(logit, 2);
      fourth += weight * std::pow(logit, 4);
    }
    const LogitMoments moments = exact_logit_moments({2, {8, cap}, -2});
    EXPECT_NEAR(moments.sd / std::sqrt(second), 1, 1e-7) << cap;
    EXPECT_NEAR(moments.kurtosis.value() / (fourth / (second * second)), 1, 1e-7) << cap;
  }
}

// 3 + 6 / d of normal entries, 3 d / (d + 2) of cosines; a cap far above changes neither.
TEST(ExactLogitMoments, MomentsOfStraightLogitsHaveTheirClosedForms) {
  for (const double cap : {kNoSoftcap, 1e7}) {
    const LogitMoments normal = exact_logit_moments({16, {8, cap}, 0.5, 3});
    EXPECT_NEAR(normal.sd, 6, 1e-7);
    EXPECT_NEAR(normal.kurtosis.value(), 3 + 6.0 / 16, 1e-7);
    const LogitMoments cosine = exact_logit_moments({16, {8, cap}, 10, 3, ScoreLaw::kCosine});
    EXPECT_NEAR(cosine.sd, 2.5, 1e-7);
    EXPECT_NEAR(cosine.kurtosis.value(), 48.0 / 18, 1e-7);
  }
  EXPECT_FALSE(exact_logit_moments({16, {8}, 0}).kurtosis);
}

// Logits and cap a thousand times as large: the spread too, the kurtosis not. Logits of 10^18 are
// all at a cap of 10^9 or at minus it, and need no more panels than others.
TEST(ExactLogitMoments, MomentsUnderALargeCapAreThoseOfASmallOneEnlarged) {
  const LogitMoments small = exact_logit_moments({16, {8, 3}, 0.5});
  const LogitMoments large = exact_logit_moments({16, {8, 3000}, 500});
  EXPECT_NEAR(large.sd / (1000 * small.sd), 1, 1e-7);
  EXPECT_NEAR(large.kurtosis.value(), small.kurtosis.value(), 1e-7);
  const LogitMoments signs = exact_logit_moments({16, {8, 1e9}, 1e18});
  EXPECT_NEAR(signs.sd / 1e9, 1, 1e-7);
  EXPECT_NEAR(signs.kurtosis.value(), 1, 1e-7);
}

}  // namespace
}  // namespace attnscale
