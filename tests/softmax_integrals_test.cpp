#include "numerics/softmax_integrals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace attnscale {
namespace {

// E[max of n standard normals], from tables of normal order statistics (5 decimals).
const std::map<std::int64_t, double> kExpectedMaximum{
    {2, 0.56419},   {4, 1.02938},   {8, 1.42360},   {16, 1.76599},   {64, 2.34373},
    {128, 2.59460}, {256, 2.82686}, {512, 3.04390}, {1024, 3.24824}, {4096, 3.62608}};

LogitCurve softcap(double spread, double cap) {
  return [=](double z) {
    const double bent = std::tanh(spread * z / cap);
    return LogitPoint{cap * bent, spread * (1 - bent * bent)};
  };
}

LogitCurve line(double spread) {
  return [=](double z) { return LogitPoint{spread * z, spread}; };
}

void expect_near(const SoftmaxMeans& a, const SoftmaxMeans& b, double tolerance, double spread) {
  EXPECT_NEAR(a.top_weight, b.top_weight, tolerance);
  EXPECT_NEAR(a.slope, b.slope, tolerance);
  EXPECT_NEAR(a.score_slope, b.score_slope, tolerance * spread);
  EXPECT_NEAR(a.sum_p2, b.sum_p2, tolerance);
  EXPECT_NEAR(a.entropy, b.entropy, tolerance);
  EXPECT_NEAR(a.margin, b.margin, tolerance * spread);
  EXPECT_NEAR(a.mean_logit, b.mean_logit, tolerance * spread);
  EXPECT_NEAR(a.total_weight, b.total_weight, tolerance);
  EXPECT_NEAR(a.sink_weight, b.sink_weight, tolerance);
  EXPECT_NEAR(a.sink_entropy, b.sink_entropy, tolerance);
}

/// What one query's logits say, from the definitions.
SoftmaxMeans measure(const std::vector<LogitPoint>& keys, double sink) {
  std::size_t top = 0;
  double total = std::exp(sink);
  for (std::size_t j = 0; j < keys.size(); ++j) {
    total += std::exp(keys[j].logit);
    if (keys[j].logit > keys[top].logit) top = j;
  }
  SoftmaxMeans one{};
  double next = -INFINITY;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    const double p = std::exp(keys[j].logit) / total;
    one.sum_p2 += p * p;
    one.entropy -= p * std::log(p);
    one.mean_logit += p * keys[j].logit;
    one.total_weight += p;
    if (j != top) next = std::max(next, keys[j].logit);
  }
  one.top_weight = std::exp(keys[top].logit) / total;
  one.slope = one.top_weight * (1 - one.top_weight);
  one.score_slope = one.slope * keys[top].derivative;
  one.margin = keys[top].logit - next;
  one.sink_weight = std::exp(sink) / total;
  one.sink_entropy = one.sink_weight > 0 ? -one.sink_weight * (sink - std::log(total)) : 0;
  return one;
}

void add(SoftmaxMeans& to, const SoftmaxMeans& one, double weight) {
  to.top_weight += weight * one.top_weight;
  to.slope += weight * one.slope;
  to.score_slope += weight * one.score_slope;
  to.sum_p2 += weight * one.sum_p2;
  to.entropy += weight * one.entropy;
  to.margin += weight * one.margin;
  to.mean_logit += weight * one.mean_logit;
  to.total_weight += weight * one.total_weight;
  to.sink_weight += weight * one.sink_weight;
  to.sink_entropy += weight * one.sink_entropy;
}

/// Two keys by Simpson's rule over the sum and the difference of their scores; the difference ends
/// at 0, where the top key changes. Error of order (0.02 * curvature scale)^4, below 1e-7 here.
SoftmaxMeans two_keys_by_simpson(const LogitCurve& logit, double sink) {
  static constexpr int kSteps = 400;
  const double reach = 8;
  const auto simpson = [](int i) { return i == 0 || i == kSteps ? 1.0 : i % 2 == 1 ? 4.0 : 2.0; };
  SoftmaxMeans means{};
  for (int i = 0; i <= kSteps; ++i) {
    const double u = reach * (2.0 * i / kSteps - 1);
    for (int j = 0; j <= kSteps; ++j) {
      const double v = reach * j / kSteps;
      const double density = std::exp(-0.5 * (u * u + v * v)) / M_PI;  // both signs of v
      const double weight =
          simpson(i) * simpson(j) * (2 * reach / kSteps / 3) * (reach / kSteps / 3);
      add(means, measure({logit((u + v) / M_SQRT2), logit((u - v) / M_SQRT2)}, sink),
          weight * density);
    }
  }
  return means;
}

// The file's 7 digits are rounded to 5e-8; its own quadrature is good to 1e-6.
TEST(SoftmaxIntegrals, EqualTheReferenceFileOfGaussianLogits) {
  std::ifstream file(std::string(ATTNSCALE_SOURCE_DIR) +
                     "/tests/reference_values/gaussian_logits.json");
  const auto entries = nlohmann::json::parse(file);
  ASSERT_EQ(entries.size(), 14U);
  for (const auto& entry : entries) {
    SCOPED_TRACE(entry.dump());
    const SoftmaxMeans means =
        SoftmaxIntegrals(entry["keys"].get<int>()).linear(entry["logit_sd"].get<double>());
    EXPECT_NEAR(means.top_weight, entry["top_weight"].get<double>(), 1e-6);
    EXPECT_NEAR(means.slope, entry["slope"].get<double>(), 1e-6);
    EXPECT_NEAR(means.sum_p2, entry["sum_p2"].get<double>(), 1e-6);
    EXPECT_NEAR(means.entropy, entry["entropy"].get<double>(), 1e-6);
  }
}

TEST(SoftmaxIntegrals, WeightsSumToOneWithin1e8) {
  for (const std::int64_t keys : {2, 3, 8, 128, 4096, 131072, 1 << 20}) {
    const SoftmaxIntegrals integrals(keys);
    for (const double spread : {0.0, 0.01, 0.3, 1.0, 3.0, 8.0, 64.0, 1e3, 1e6}) {
      EXPECT_NEAR(integrals.linear(spread).total_weight, 1, 1e-8) << keys << " " << spread;
    }
  }
}

// Stein's identity for normal scores z and weights softmax(a z): E[sum p z] = a (1 - E[sum p^2]).
// Weights are
// compared at 3e-8; the division by a^2 costs the rest at small a.
TEST(SoftmaxIntegrals, MeanLogitObeysSteinsIdentity) {
  for (const std::int64_t keys : {2, 3, 8, 128, 4096, 131072, 1 << 20}) {
    const SoftmaxIntegrals integrals(keys);
    for (const double a : {0.01, 0.3, 1.0, 2.0, 3.0, 5.0, 8.0, 16.0, 64.0}) {
      const SoftmaxMeans means = integrals.linear(a);
      EXPECT_NEAR(means.mean_logit / (a * a), 1 - means.sum_p2, a < 0.1 ? 1e-5 : 3e-8)
          << keys << " " << a;
    }
  }
}

TEST(SoftmaxIntegrals, SumOfSquaresStaysAboveItsExactBound) {
  for (const auto& [keys, maximum] : kExpectedMaximum) {
    const SoftmaxIntegrals integrals(keys);
    double last = 0;
    for (const double a : {0.5, 1.0, 2.0, 4.0, 8.0, 32.0, 128.0}) {
      const double sum_p2 = integrals.linear(a).sum_p2;
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
    const SoftmaxMeans means = SoftmaxIntegrals(keys).linear(a);
    EXPECT_NEAR(a * means.slope / (maximum / 2), 1, 3e-5) << keys;
    EXPECT_NEAR(a * means.entropy / (maximum * M_PI * M_PI / 6), 1, 3e-5) << keys;
    EXPECT_NEAR(1 - SoftmaxIntegrals(keys).linear(1e4).sum_p2, maximum / 1e4, 1e-7) << keys;
  }
}

TEST(SoftmaxIntegrals, OfEqualLogitsAreUniform) {
  for (const std::int64_t keys : {2, 8, 1000, 100000}) {
    const SoftmaxMeans means = SoftmaxIntegrals(keys).linear(0);
    const double p = 1.0 / static_cast<double>(keys);
    EXPECT_NEAR(means.top_weight, p, 5e-9);
    EXPECT_NEAR(means.slope, p * (1 - p), 5e-9);
    EXPECT_NEAR(means.sum_p2, p, 5e-9);
    EXPECT_NEAR(means.entropy, std::log(static_cast<double>(keys)), 5e-8);
    EXPECT_EQ(means.margin, 0);
  }
}

// E|z1 - z2| = 2 / sqrt(pi); the mean range of three is 3 / sqrt(pi), of which each gap is half.
TEST(SoftmaxIntegrals, MarginOfFewKeysHasItsClosedForm) {
  EXPECT_NEAR(SoftmaxIntegrals(2).linear(1).margin, 2 / std::sqrt(M_PI), 1e-11);
  EXPECT_NEAR(SoftmaxIntegrals(3).linear(1).margin, 1.5 / std::sqrt(M_PI), 1e-11);
  EXPECT_NEAR(SoftmaxIntegrals(3).linear(7).margin, 7 * 1.5 / std::sqrt(M_PI), 1e-10);
}

TEST(SoftmaxIntegrals, OfAStraightCurveEqualTheLinearOnes) {
  for (const std::int64_t keys : {2, 8, 1024, 1 << 20}) {
    const SoftmaxIntegrals integrals(keys);
    for (const double spread : {0.1, 1.0, 5.0, 50.0}) {
      SCOPED_TRACE(testing::Message() << keys << " keys, spread " << spread);
      expect_near(integrals.curve(line(spread)), integrals.linear(spread), 1e-7,
                  std::max(spread, 1.0));
      expect_near(integrals.curve(softcap(spread, 1e8 * spread)), integrals.linear(spread), 1e-7,
                  std::max(spread, 1.0));
      expect_near(integrals.curve(line(spread), -1e5), integrals.linear(spread), 1e-7,
                  std::max(spread, 1.0));
    }
  }
}

TEST(SoftmaxIntegrals, OfTwoKeysEqualSimpsonsRule) {
  const SoftmaxIntegrals integrals(2);
  for (const double sink : {kNoSink, 0.0, 3.0}) {
    for (const double cap : {0.5, 30.0}) {
      for (const double spread : {1.0, 4.0}) {
        SCOPED_TRACE(testing::Message() << "sink " << sink << ", cap " << cap << ", " << spread);
        const LogitCurve logit = softcap(spread, cap);
        expect_near(integrals.curve(logit, sink), two_keys_by_simpson(logit, sink), 1e-6,
                    std::max(spread, 1.0));
      }
    }
  }
}

// 200,000 draws per case, seed fixed; 5 standard errors on 10 means in 3 cases: a false alarm once
// in 60,000 seeds.
TEST(SoftmaxIntegrals, OfEightKeysEqualAMonteCarloRun) {
  struct Case {
    double spread, cap, sink;
  };
  for (const Case c : {Case{6, 4, kNoSink}, Case{2, 1e9, 1}, Case{20, 8, 9}}) {
    SCOPED_TRACE(testing::Message() << c.spread << " " << c.cap << " " << c.sink);
    const LogitCurve logit = softcap(c.spread, c.cap);
    std::mt19937_64 words(20240607);
    std::normal_distribution<double> normal;
    const int draws = 200000;
    SoftmaxMeans mean{};
    SoftmaxMeans square{};
    for (int i = 0; i < draws; ++i) {
      std::vector<LogitPoint> keys;
      for (int j = 0; j < 8; ++j) keys.push_back(logit(normal(words)));
      const SoftmaxMeans m = measure(keys, c.sink);
      add(mean, m, 1.0 / draws);
      add(square,
          {m.top_weight * m.top_weight, m.slope * m.slope, m.score_slope * m.score_slope,
           m.sum_p2 * m.sum_p2, m.entropy * m.entropy, m.margin * m.margin,
           m.mean_logit * m.mean_logit, m.total_weight * m.total_weight,
           m.sink_weight * m.sink_weight, m.sink_entropy * m.sink_entropy},
          1.0 / draws);
    }
    const SoftmaxMeans exact = SoftmaxIntegrals(8).curve(logit, c.sink);
    const auto check = [&](double SoftmaxMeans::*member) {
      const double variance = square.*member - mean.*member * (mean.*member);
      EXPECT_NEAR(exact.*member, mean.*member, 5 * std::sqrt(std::abs(variance) / draws) + 1e-7);
    };
    for (const auto member :
         {&SoftmaxMeans::top_weight, &SoftmaxMeans::slope, &SoftmaxMeans::score_slope,
          &SoftmaxMeans::sum_p2, &SoftmaxMeans::entropy, &SoftmaxMeans::margin,
          &SoftmaxMeans::mean_logit, &SoftmaxMeans::total_weight, &SoftmaxMeans::sink_weight,
          &SoftmaxMeans::sink_entropy}) {
      check(member);
    }
  }
}

TEST(SoftmaxIntegrals, KeysAndSinkShareAllWeight) {
  for (const double sink : {-30.0, -1.0, 0.0, 5.0, 40.0}) {
    for (const double spread : {0.5, 3.0, 100.0}) {
      const SoftmaxMeans means = SoftmaxIntegrals(64).curve(line(spread), sink);
      EXPECT_NEAR(means.total_weight + means.sink_weight, 1, 1e-8) << sink << " " << spread;
    }
  }
}

}  // namespace
}  // namespace attnscale
