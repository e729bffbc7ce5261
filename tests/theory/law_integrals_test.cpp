#include "theory/law_integrals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "theory/softmax_integrals.h"

namespace attnscale {
namespace {

using enum ExactMean;

LogitLaw line(double spread) {
  return normal_law(spread, kNoSoftcap);
}

void expect_near(const ExactMeans& a, const ExactMeans& b, double tolerance, double spread) {
  for (std::size_t i = 0; i < ExactMeans::kCount; ++i) {
    const auto mean = static_cast<ExactMean>(i);
    const bool grows = mean == kScoreSlope || mean == kMargin || mean == kMeanLogit;
    EXPECT_NEAR(a[mean], b[mean], grows ? tolerance * spread : tolerance) << "mean " << i;
  }
}

/// What one query's logits say, from the definitions.
ExactMeans measure(const std::vector<LogitPoint>& keys, double sink) {
  std::size_t top = 0;
  double total = std::exp(sink);
  for (std::size_t j = 0; j < keys.size(); ++j) {
    total += std::exp(keys[j].logit);
    if (keys[j].logit > keys[top].logit) top = j;
  }
  ExactMeans one;
  double next = -INFINITY;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    const double p = std::exp(keys[j].logit) / total;
    one[kSumP2] += p * p;
    one[kEntropy] -= p * std::log(p);
    one[kMeanLogit] += p * keys[j].logit;
    one[kTotalWeight] += p;
    if (j != top) next = std::max(next, keys[j].logit);
  }
  one[kTopWeight] = std::exp(keys[top].logit) / total;
  one[kSlope] = one[kTopWeight] * (1 - one[kTopWeight]);
  one[kScoreSlope] = one[kSlope] * keys[top].derivative;
  one[kMargin] = keys[top].logit - next;
  one[kSinkWeight] = std::exp(sink) / total;
  one[kSquaredSinkWeight] = one[kSinkWeight] * one[kSinkWeight];
  one[kSinkEntropy] = one[kSinkWeight] > 0 ? -one[kSinkWeight] * (sink - std::log(total)) : 0;
  return one;
}

/// Two keys by Simpson's rule over the sum and the difference of their scores; the difference ends
/// at 0, where the top key changes. Error of order (0.02 * curvature scale)^4, below 1e-7 here.
ExactMeans two_keys_by_simpson(const LogitCurve& logit, double sink) {
  static constexpr int kSteps = 400;
  const double reach = 8;
  const auto simpson = [](int i) { return i == 0 || i == kSteps ? 1.0 : i % 2 == 1 ? 4.0 : 2.0; };
  ExactMeans means;
  for (int i = 0; i <= kSteps; ++i) {
    const double u = reach * (2.0 * i / kSteps - 1);
    for (int j = 0; j <= kSteps; ++j) {
      const double v = reach * j / kSteps;
      const double density = std::exp(-0.5 * (u * u + v * v)) / M_PI;  // both signs of v
      const double weight =
          simpson(i) * simpson(j) * (2 * reach / kSteps / 3) * (reach / kSteps / 3);
      means +=
          (weight * density) * measure({logit((u + v) / M_SQRT2), logit((u - v) / M_SQRT2)}, sink);
    }
  }
  return means;
}

TEST(LawIntegrals, OfStraightLogitsEqualTheLinearOnes) {
  for (const std::int64_t keys : {2, 8, 1024, 1 << 20}) {
    const SoftmaxIntegrals integrals(keys);
    for (const double spread : {0.1, 1.0, 5.0, 50.0}) {
      SCOPED_TRACE(testing::Message() << keys << " keys, spread " << spread);
      expect_near(softmax_means(line(spread), keys), integrals.linear(spread), 1e-7,
                  std::max(spread, 1.0));
      expect_near(softmax_means(normal_law(spread, 1e8 * spread), keys), integrals.linear(spread),
                  1e-7, std::max(spread, 1.0));
      expect_near(softmax_means(line(spread), keys, -1e5), integrals.linear(spread), 1e-7,
                  std::max(spread, 1.0));
    }
  }
}

TEST(LawIntegrals, OfTwoKeysEqualSimpsonsRule) {
  for (const double sink : {kNoSink, 0.0, 3.0}) {
    for (const double cap : {0.5, 30.0}) {
      for (const double spread : {1.0, 4.0}) {
        SCOPED_TRACE(testing::Message() << "sink " << sink << ", cap " << cap << ", " << spread);
        const LogitLaw law = normal_law(spread, cap);
        expect_near(softmax_means(law, 2, sink), two_keys_by_simpson(law.logit, sink), 1e-6,
                    std::max(spread, 1.0));
      }
    }
  }
}

/// The same of sigmoids, every key by itself.
ExactMeans measure_sigmoids(const std::vector<LogitPoint>& keys, double bias) {
  ExactMeans one;
  std::vector<LogitPoint> sorted = keys;
  std::sort(sorted.begin(), sorted.end(),
            [](const LogitPoint& a, const LogitPoint& b) { return a.logit > b.logit; });
  for (const LogitPoint& key : sorted) {
    const double p = 1 / (1 + std::exp(-(key.logit + bias)));
    one[kSumP2] += p * p;
    one[kEntropy] -= p * std::log(p);
    one[kMeanLogit] += p * key.logit;
    one[kTotalWeight] += p;
  }
  one[kTopWeight] = 1 / (1 + std::exp(-(sorted[0].logit + bias)));
  one[kSlope] = one[kTopWeight] * (1 - one[kTopWeight]);
  one[kScoreSlope] = one[kSlope] * sorted[0].derivative;
  one[kMargin] = keys.size() > 1 ? sorted[0].logit - sorted[1].logit : 0;
  return one;
}

/// Draws of `draw_query` against the exact means, at 5 standard errors.
template <typename DrawQuery>
void expect_means_of(const DrawQuery& draw_query, const ExactMeans& exact, int draws) {
  std::mt19937_64 words(20240607);
  ExactMeans mean;
  ExactMeans square;
  for (int i = 0; i < draws; ++i) {
    const ExactMeans one = draw_query(words);
    mean += (1.0 / draws) * one;
    square += (1.0 / draws) * (one * one);
  }
  for (std::size_t i = 0; i < ExactMeans::kCount; ++i) {
    const double drawn = mean.values()[i];
    const double variance = square.values()[i] - drawn * drawn;
    EXPECT_NEAR(exact.values()[i], drawn, 5 * std::sqrt(std::abs(variance) / draws) + 1e-7) << i;
  }
}

// Here and below: seed fixed; 5 standard errors on 10 means a case: a false alarm once in 100,000
// seeds for a test of fewer than 20 cases.
TEST(LawIntegrals, OfEightKeysEqualAMonteCarloRun) {
  struct Case {
    double spread, cap, sink;
  };
  for (const Case c : {Case{6, 4, kNoSink}, Case{2, kNoSoftcap, 1}, Case{20, 8, 9}}) {
    SCOPED_TRACE(testing::Message() << c.spread << " " << c.cap << " " << c.sink);
    const auto draw = [&](std::mt19937_64& words) {
      std::normal_distribution<double> normal;
      std::vector<LogitPoint> keys;
      for (int j = 0; j < 8; ++j) keys.push_back(softcapped(normal(words), c.spread, c.cap));
      return measure(keys, c.sink);
    };
    expect_means_of(draw, softmax_means(normal_law(c.spread, c.cap), 8, c.sink), 200000);
  }
}

double draw_cosine(int d, std::mt19937_64& words) {
  std::normal_distribution<double> normal;
  const double first = normal(words);
  double square = first * first;
  for (int i = 1; i < d; ++i) {
    const double entry = normal(words);
    square += entry * entry;
  }
  return first / std::sqrt(square);
}

TEST(LawIntegrals, OfCosinesEqualAMonteCarloRun) {
  struct Case {
    int d;
    std::size_t keys;
    double multiplier, cap, sink;
  };
  for (const Case c : {Case{2, 8, 10, kNoSoftcap, kNoSink}, Case{2, 100, 3, kNoSoftcap, 2},
                       Case{5, 3, 20, 6, kNoSink}, Case{16, 8, 10, kNoSoftcap, kNoSink}}) {
    SCOPED_TRACE(testing::Message() << c.d << " " << c.keys << " " << c.multiplier);
    const auto draw = [&](std::mt19937_64& words) {
      std::vector<LogitPoint> keys;
      for (std::size_t j = 0; j < c.keys; ++j) {
        keys.push_back(softcapped(draw_cosine(c.d, words), c.multiplier, c.cap));
      }
      return measure(keys, c.sink);
    };
    const auto keys = static_cast<std::int64_t>(c.keys);
    expect_means_of(draw, softmax_means(cosine_law(c.d, c.multiplier, c.cap), keys, c.sink), 40000);
  }
}

TEST(LawIntegrals, OfSigmoidsEqualAMonteCarloRun) {
  struct Case {
    std::size_t keys;
    double spread, cap, bias;
  };
  for (const Case c :
       {Case{8, 2, kNoSoftcap, -std::log(8.0)}, Case{1, 30, 5, 0}, Case{20, 0.5, kNoSoftcap, 3}}) {
    SCOPED_TRACE(testing::Message() << c.keys << " " << c.spread << " " << c.bias);
    const auto draw = [&](std::mt19937_64& words) {
      std::normal_distribution<double> normal;
      std::vector<LogitPoint> keys;
      for (std::size_t j = 0; j < c.keys; ++j) {
        keys.push_back(softcapped(normal(words), c.spread, c.cap));
      }
      return measure_sigmoids(keys, c.bias);
    };
    const auto keys = static_cast<std::int64_t>(c.keys);
    expect_means_of(draw, sigmoid_means(normal_law(c.spread, c.cap), keys, c.bias), 100000);
  }
}

// In three dimensions a cosine is uniform on [-1, 1].
TEST(LawIntegrals, OfUniformCosinesHaveTheirClosedForms) {
  const auto sigma = [](double x) { return 1 / (1 + std::exp(-x)); };
  for (const double m : {0.1, 1.0, 10.0, 300.0}) {
    for (const double bias : {-2.0, 0.0, 5.0}) {
      const ExactMeans one = sigmoid_means(cosine_law(3, m, kNoSoftcap), 1, bias);
      // The antiderivative of sigma(x) is log(1 + e^x).
      const auto area = [](double x) {
        return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
      };
      EXPECT_NEAR(one[kTopWeight], (area(bias + m) - area(bias - m)) / (2 * m), 1e-8) << m;
      EXPECT_NEAR(one[kTotalWeight], one[kTopWeight], 1e-12);
      EXPECT_NEAR(one[kSlope], (sigma(bias + m) - sigma(bias - m)) / (2 * m), 1e-8) << m;
    }
    // |c1 - c2| is 2/3 on average; the two largest of n points on [-1, 1] are 2 / (n + 1) apart.
    EXPECT_NEAR(softmax_means(cosine_law(3, m, kNoSoftcap), 2)[kMargin], m * 2 / 3, m * 1e-9);
    EXPECT_NEAR(softmax_means(cosine_law(3, m, kNoSoftcap), 999)[kMargin], m * 0.002, m * 1e-9);
    // Two keys: the top weight is sigma(m v) with v = |c1 - c2| of density (2 - v) / 2 on [0, 2].
    const int steps = 20000;
    double top = 0;
    for (int i = 0; i <= steps; ++i) {
      const double v = 2.0 * i / steps;
      const double simpson = i == 0 || i == steps ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
      top += simpson * (2.0 / steps / 3) * (2 - v) / 2 * sigma(m * v);
    }
    EXPECT_NEAR(softmax_means(cosine_law(3, m, kNoSoftcap), 2)[kTopWeight], top, 2e-8) << m;
    // The integral of tanh^2 is x - tanh x.
    const double cap = 7;
    EXPECT_NEAR(even_moments(cosine_law(3, m, cap)).second,
                cap * cap * (1 - std::tanh(m / cap) * cap / m), 1e-8 * m * m);
  }
}

// Of the cosine E c^2 = 1 / d and E c^4 = 3 / (d (d + 2)); of a normal score 1 and 3.
TEST(LawIntegrals, MomentsHaveTheirClosedForms) {
  for (const double d : {1.5, 2.0, 3.0, 64.0, 65536.0}) {
    const EvenMoments cosine = even_moments(cosine_law(d, 5, kNoSoftcap));
    EXPECT_NEAR(cosine.second * d / 25, 1, 1e-8) << d;
    EXPECT_NEAR(cosine.fourth * d * (d + 2) / (3 * 625), 1, 1e-8) << d;
  }
  const EvenMoments normal = even_moments(line(3));
  EXPECT_NEAR(normal.second / 9, 1, 1e-8);
  EXPECT_NEAR(normal.fourth / 243, 1, 1e-8);
}

// In many dimensions sqrt(d) times the cosine is a normal score but for 1 / d.
TEST(LawIntegrals, CosinesInManyDimensionsAreNormalScores) {
  const double d = 1e9;
  for (const std::int64_t keys : {2, 8, 100000}) {
    ExactMeans cosine = softmax_means(cosine_law(d, 3 * std::sqrt(d), kNoSoftcap), keys);
    cosine[kScoreSlope] /= std::sqrt(d);  // from the cosine to the normal score
    expect_near(cosine, SoftmaxIntegrals(keys).linear(3), 1e-7, 3);
  }
}

TEST(LawIntegrals, WeightsOfAnyLawSumToOne) {
  for (const std::int64_t keys : {2, 8, 1024, 1 << 20}) {
    for (const double d : {1.5, 2.0, 3.0, 64.0, 65536.0}) {
      for (const double m : {0.0, 1.0, 100.0}) {
        EXPECT_NEAR(softmax_means(cosine_law(d, m, kNoSoftcap), keys)[kTotalWeight], 1, 3e-8)
            << keys << " " << d << " " << m;
      }
    }
    for (const double spread : {0.1, 10.0, 1000.0}) {
      EXPECT_NEAR(softmax_means(normal_law(spread, 30), keys)[kTotalWeight], 1, 3e-8)
          << keys << " " << spread;
    }
  }
}

TEST(LawIntegrals, KeysAndSinkShareAllWeight) {
  for (const double sink : {-30.0, -1.0, 0.0, 5.0, 40.0}) {
    for (const double spread : {0.5, 3.0, 100.0}) {
      const ExactMeans means = softmax_means(line(spread), 64, sink);
      EXPECT_NEAR(means[kTotalWeight] + means[kSinkWeight], 1, 2e-8) << sink << " " << spread;
    }
  }
}

}  // namespace
}  // namespace attnscale
