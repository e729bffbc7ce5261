// Skewness of powers of scores, against sums over every possible query and key of few entries.
#include "draw/score_skewness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace attnscale {
namespace {

// The values of a standardised law with atoms, and their probabilities.
using Atoms = std::vector<std::pair<double, double>>;

Atoms atoms_of(const Law& law) {
  if (law.row == find_law("rademacher")) return {{-1, 0.5}, {1, 0.5}};
  const double p = law.parameters[0];
  const double size = std::sqrt(1 / p);
  return {{-size, p / 2}, {0, 1 - p}, {size, p / 2}};
}

// The values of the product of two entries.
Atoms products_of(const Entries& entries, double rho) {
  Atoms products;
  for (const auto& [x, of_x] : atoms_of(entries.queries)) {
    for (const auto& [y, of_y] : atoms_of(entries.keys)) {
      const double key = rho * x + std::sqrt(1 - rho * rho) * y;
      products.emplace_back((entries.queries.mean + entries.queries.sd * x) *
                                (entries.keys.mean + entries.keys.sd * key),
                            of_x * of_y);
    }
  }
  return products;
}

// The values of scores of three entries; `aligned` of two keys are aligned.
Atoms scores_of(const Entries& entries, int aligned) {
  Atoms scores;
  for (int key = 0; key < 2; ++key) {
    const Atoms products = products_of(entries, key < aligned ? entries.alignment : 0);
    for (const auto& [a, of_a] : products) {
      for (const auto& [b, of_b] : products) {
        for (const auto& [c, of_c] : products) {
          scores.emplace_back(a + b + c, of_a * of_b * of_c / 2);
        }
      }
    }
  }
  return scores;
}

template <typename Function>
double mean_of(const Atoms& atoms, const Function& function) {
  double sum = 0;
  for (const auto& [value, probability] : atoms) sum += probability * function(value);
  return sum;
}

template <typename Function>
double squared_skewness_of(const Atoms& atoms, const Function& function) {
  const double square = mean_of(atoms, [&](double s) { return std::pow(function(s), 2); });
  const double cube = mean_of(atoms, [&](double s) { return std::pow(function(s), 3); });
  return cube * cube / (square * square * square);
}

Law law_of(const char* name, std::vector<double> parameters, double mean, double sd) {
  return {find_law(name), std::move(parameters), mean, sd};
}

TEST(ScoreSkewness, IsThatOfEveryPossibleScore) {
  const Law sign = law_of("rademacher", {}, 0, 1.5);
  const Law shifted_sign = law_of("rademacher", {}, 0.5, 1);
  const Law levels = law_of("ternary", {0.3}, 0, 1);
  const Law shifted_levels = law_of("ternary", {0.4}, -1, 0.5);
  for (const auto& [queries, keys] :
       {std::pair{sign, levels}, std::pair{levels, levels}, std::pair{shifted_sign, shifted_levels},
        std::pair{shifted_levels, sign}}) {
    for (const double alignment : {0.0, 0.6, -0.3}) {
      for (const int aligned : {1, 2}) {
        SCOPED_TRACE(testing::Message() << queries.row->name << " " << queries.mean << " "
                                        << alignment << " " << aligned);
        const Entries entries{"e", {}, queries, keys, alignment, aligned};
        const Atoms scores = scores_of(entries, aligned);
        const double mean = mean_of(scores, [](double s) { return s; });
        const double sd =
            std::sqrt(mean_of(scores, [&](double s) { return (s - mean) * (s - mean); }));
        const auto power = [&](int order) {
          return mean_of(scores, [&](double s) { return std::pow((s - mean) / sd, order); });
        };
        const double skewness = power(3);
        const double kurtosis = power(4);
        const PowerSkewness found = score_skewness(entries, 3, 2);
        const double of_spread =
            squared_skewness_of(scores, [&](double s) { return std::pow((s - mean) / sd, 2) - 1; });
        const double of_kurtosis = squared_skewness_of(scores, [&](double s) {
          const double x = (s - mean) / sd;
          return std::pow(x, 4) - kurtosis - 4 * skewness * x - 2 * kurtosis * (x * x - 1);
        });
        EXPECT_NEAR(found.of_spread, of_spread, 1e-9 * (1 + of_spread));
        EXPECT_NEAR(found.of_kurtosis, of_kurtosis, 1e-7 * (1 + of_kurtosis));
      }
    }
  }
}

// Normal scores: s^2 is chi-squared with G^2 = 8, and with moments 1, 3, 15 ... of s^2 by hand
// E u^2 = 105 - 12 * 15 + 42 * 3 - 36 + 9 = 24 and E u^3 = 1728 for u = s^4 - 6 s^2 + 3.
TEST(ScoreSkewness, OfManyEntriesIsThatOfNormalScores) {
  const PowerSkewness normal = normal_score_skewness();
  EXPECT_NEAR(normal.of_spread, 8, 1e-12);
  EXPECT_NEAR(normal.of_kurtosis, 1728.0 * 1728 / (24.0 * 24 * 24), 1e-9);
  const Law laplace = law_of("laplace", {}, 0, 1);
  const PowerSkewness many = score_skewness({"l", {}, laplace, laplace}, 10'000'000, 1);
  EXPECT_NEAR(many.of_spread, normal.of_spread, 1e-3);
  EXPECT_NEAR(many.of_kurtosis / normal.of_kurtosis, 1, 1e-3);
}

// |q|^2 of d normal entries is chi-squared: G^2 = 8 / d; at d = 2 it is exponential, a = e, with
// kappa = 6: u = 3 e^2 - 12 e + 6, E u^2 = 36 and E u^3 = 2160, by the moments n! of e.
TEST(ScoreSkewness, OfAQueryIsThatOfItsNorm) {
  const Law normal = law_of("normal", {}, 0, 2);
  EXPECT_NEAR(query_skewness({"n", {}, normal, normal}, 4, 8).of_spread, 2, 1e-12);
  const PowerSkewness pair = query_skewness({"n", {}, normal, normal}, 2, 8);
  EXPECT_NEAR(pair.of_spread, 4, 1e-12);
  EXPECT_NEAR(pair.of_kurtosis, 2160.0 * 2160 / (36.0 * 36 * 36), 1e-7);
}

TEST(ScoreSkewness, IsNoneOfASignAndInfiniteWithoutMoments) {
  const Law sign = law_of("rademacher", {}, 0, 1);
  EXPECT_EQ(score_skewness({"r", {}, sign, sign}, 1, 4).of_spread, 0);
  EXPECT_EQ(score_skewness({"r", {}, sign, sign}, 1, 4).of_kurtosis, 0);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Law t7 = law_of("student_t", {7}, 0, 1);
  EXPECT_LT(score_skewness({"t", {}, t7, t7}, 3, 4).of_spread, 1e6);
  EXPECT_EQ(score_skewness({"t", {}, t7, t7}, 3, 4).of_kurtosis, kInfinity);
  EXPECT_EQ(score_skewness({"t", {}, t7, t7, 0.5}, 3, 4).of_spread, kInfinity);
}

}  // namespace
}  // namespace attnscale
