#include "theory/softmax_integrals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace attnscale {
namespace {

using enum ExactMean;

// E[max of n standard normals], from tables of normal order statistics (5 decimals).
const std::map<std::int64_t, double> kExpectedMaximum{
    {2, 0.56419},   {4, 1.02938},   {8, 1.42360},   {16, 1.76599},   {64, 2.34373},
    {128, 2.59460}, {256, 2.82686}, {512, 3.04390}, {1024, 3.24824}, {4096, 3.62608}};

// The file's 7 digits are rounded to 5e-8; its own quadrature is good to 1e-6.
TEST(SoftmaxIntegrals, EqualTheReferenceFileOfGaussianLogits) {
  std::ifstream file(std::string(ATTNSCALE_SOURCE_DIR) +
                     "/tests/reference_values/gaussian_logits.json");
  const auto entries = nlohmann::json::parse(file);
  ASSERT_EQ(entries.size(), 14U);
  for (const auto& entry : entries) {
    SCOPED_TRACE(entry.dump());
    const ExactMeans means =
        SoftmaxIntegrals(entry["keys"].get<int>()).linear(entry["logit_sd"].get<double>());
    EXPECT_NEAR(means[kTopWeight], entry["top_weight"].get<double>(), 1e-6);
    EXPECT_NEAR(means[kSlope], entry["slope"].get<double>(), 1e-6);
    EXPECT_NEAR(means[kSumP2], entry["sum_p2"].get<double>(), 1e-6);
    EXPECT_NEAR(means[kEntropy], entry["entropy"].get<double>(), 1e-6);
  }
}

TEST(SoftmaxIntegrals, WeightsSumToOneWithin1e8) {
  for (const std::int64_t keys : {2, 3, 8, 128, 4096, 131072, 1 << 20}) {
    const SoftmaxIntegrals integrals(keys);
    for (const double spread : {0.0, 0.01, 0.3, 1.0, 3.0, 8.0, 64.0, 1e3, 1e6}) {
      EXPECT_NEAR(integrals.linear(spread)[kTotalWeight], 1, 1e-8) << keys << " " << spread;
    }
  }
}

// Stein's identity for normal scores z and weights softmax(a z): E[sum p z] = a (1 - E[sum p^2]).
// Weights are compared at 3e-8; the division by a^2 costs the rest at small a.
TEST(SoftmaxIntegrals, MeanLogitObeysSteinsIdentity) {
  for (const std::int64_t keys : {2, 3, 8, 128, 4096, 131072, 1 << 20}) {
    const SoftmaxIntegrals integrals(keys);
    for (const double a : {0.01, 0.3, 1.0, 2.0, 3.0, 5.0, 8.0, 16.0, 64.0}) {
      const ExactMeans means = integrals.linear(a);
      EXPECT_NEAR(means[kMeanLogit] / (a * a), 1 - means[kSumP2], a < 0.1 ? 1e-5 : 3e-8)
          << keys << " " << a;
    }
  }
}

TEST(SoftmaxIntegrals, SumOfSquaresStaysAboveItsExactBound) {
  for (const auto& [keys, maximum] : kExpectedMaximum) {
    const SoftmaxIntegrals integrals(keys);
    double last = 0;
    for (const double a : {0.5, 1.0, 2.0, 4.0, 8.0, 32.0, 128.0}) {
      const double sum_p2 = integrals.linear(a)[kSumP2];
      EXPECT_GE(sum_p2, 1 - (maximum + 5e-6) / a) << keys << " " << a;
      EXPECT_GT(sum_p2, last);
      last = sum_p2;
    }
  }
}

// At a huge spread only the two largest scores matter, and only when they lie close: the density of
// their gap at 0 is m_n, so a E[p (1 - p)] -> m_n / 2, a E[entropy] -> m_n pi^2 / 6 (the integral
// of the entropy of a pair), a (1 - E[sum p^2]) -> m_n. Corrections are of order 1 / a relative.
TEST(SoftmaxIntegrals, KeepRelativeAccuracyAtHugeSpreads) {
  for (const auto& [keys, maximum] : kExpectedMaximum) {
    const double a = 1e6;
    const ExactMeans means = SoftmaxIntegrals(keys).linear(a);
    EXPECT_NEAR(a * means[kSlope] / (maximum / 2), 1, 3e-5) << keys;
    EXPECT_NEAR(a * means[kEntropy] / (maximum * M_PI * M_PI / 6), 1, 3e-5) << keys;
    EXPECT_NEAR(1 - SoftmaxIntegrals(keys).linear(1e4)[kSumP2], maximum / 1e4, 1e-7) << keys;
  }
}

// The same limit by a sum in equal steps: m_n, the density of a tie of the two largest, is also
// n (n - 1) times the integral of F^(n-2) f^2. Corrections are 1e-10.
TEST(SoftmaxIntegrals, ScoreSlopeReachesItsLimitWithin1e8) {
  for (const double n : {2.0, 8.0, 100.0, 1000.0, 30000.0, 1e6}) {
    const double step = 1e-3;
    double ties = 0;
    for (double x = -9; x < 10; x += step) {
      const double log_below = std::log(0.5 * std::erfc(-x / M_SQRT2));
      ties += step * n * (n - 1) * std::exp((n - 2) * log_below - x * x) / (2 * M_PI);
    }
    const ExactMeans means = SoftmaxIntegrals(static_cast<std::int64_t>(n)).linear(1e10);
    EXPECT_NEAR(means[kScoreSlope] / (ties / 2), 1, 1e-8) << n;
  }
}

TEST(SoftmaxIntegrals, OfEqualLogitsAreUniform) {
  for (const std::int64_t keys : {2, 8, 1000, 100000}) {
    const ExactMeans means = SoftmaxIntegrals(keys).linear(0);
    const double p = 1.0 / static_cast<double>(keys);
    EXPECT_NEAR(means[kTopWeight], p, 5e-9);
    EXPECT_NEAR(means[kSlope], p * (1 - p), 5e-9);
    EXPECT_NEAR(means[kSumP2], p, 5e-9);
    EXPECT_NEAR(means[kEntropy], std::log(static_cast<double>(keys)), 5e-8);
    EXPECT_EQ(means[kMargin], 0);
  }
}

// E|z1 - z2| = 2 / sqrt(pi); the mean range of three is 3 / sqrt(pi), of which each gap is half.
TEST(SoftmaxIntegrals, MarginOfFewKeysHasItsClosedForm) {
  EXPECT_NEAR(SoftmaxIntegrals(2).linear(1)[kMargin], 2 / std::sqrt(M_PI), 1e-11);
  EXPECT_NEAR(SoftmaxIntegrals(3).linear(1)[kMargin], 1.5 / std::sqrt(M_PI), 1e-11);
  EXPECT_NEAR(SoftmaxIntegrals(3).linear(7)[kMargin], 7 * 1.5 / std::sqrt(M_PI), 1e-10);
}

}  // namespace
}  // namespace attnscale
