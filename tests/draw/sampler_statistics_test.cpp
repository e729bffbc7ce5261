// Whether every sampler draws scores of one law. Seeds are fixed; each check states the probability
// of a false alarm had the seed been chosen at random.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "support/drawn_scores.h"
#include "support/kolmogorov_smirnov.h"

namespace attnscale {
namespace {

using namespace testing_statistics;

// Block after block until `queries` queries are drawn.
std::vector<double> many_scores(std::string_view sampler, std::int64_t d, std::int64_t keys,
                                std::int64_t queries) {
  std::vector<double> scores;
  for (std::int64_t block = 0; block * 1024 < queries; ++block) {
    const BlockAddress address{17, hash_text(sampler), static_cast<std::uint64_t>(block)};
    const std::vector<double> more =
        draw_scores(*find_sampler(sampler), {normal_entries(), d, keys}, address,
                    std::min<std::int64_t>(1024, queries - block * 1024));
    scores.insert(scores.end(), more.begin(), more.end());
  }
  return scores;
}

// One key per query, so that all scores are independent. False alarm 1e-6 for each pair and d.
void expect_one_law(std::int64_t queries) {
  for (const std::int64_t d : {2, 4, 64}) {
    const std::vector<double> boost = many_scores("boost", d, 1, queries);
    const std::vector<double> vectors = many_scores("vectors", d, 1, queries);
    const std::vector<double> direct = many_scores("direct", d, 1, queries);
    EXPECT_LT(kolmogorov_smirnov(vectors, direct), kOneInAMillion) << "d = " << d;
    EXPECT_LT(kolmogorov_smirnov(boost, vectors), kOneInAMillion) << "d = " << d;
    EXPECT_LT(kolmogorov_smirnov(boost, direct), kOneInAMillion) << "d = " << d;
  }
}

TEST(Samplers, DrawScoresOfOneLaw) {
  expect_one_law(50000);
}

TEST(SamplersSlow, DrawScoresOfOneLawAtAMillion) {
  expect_one_law(1000000);
}

class ScoresOf : public ::testing::TestWithParam<std::string_view> {};

TEST_P(ScoresOf, TwoEntriesFollowTheLaplaceLaw) {
  // The sum of two products of two standard normals is Laplace(0, 1). False alarm 1e-6.
  const auto laplace = [](double x) { return x < 0 ? std::exp(x) / 2 : 1 - std::exp(-x) / 2; };
  EXPECT_LT(kolmogorov_smirnov(many_scores(GetParam(), 2, 1, 1000000), laplace), kOneInAMillion);
}

struct MeanAndError {
  double mean;
  double std_error;
};

template <typename Value>
MeanAndError mean_over_queries(std::int64_t queries, const Value& value) {
  double sum = 0;
  double sum_of_squares = 0;
  for (std::int64_t query = 0; query < queries; ++query) {
    const double x = value(static_cast<std::size_t>(query));
    sum += x;
    sum_of_squares += x * x;
  }
  const auto n = static_cast<double>(queries);
  return {sum / n, std::sqrt((sum_of_squares / n - sum * sum / n / n) / n)};
}

TEST_P(ScoresOf, OneQueryShareItsNorm) {
  // Cov(S1^2, S2^2) = 2 d for two scores of a query, with E[S^2] = d. 5 standard errors: 6e-7.
  constexpr std::int64_t kQueries = 400000;
  for (const std::int64_t d : {1, 2, 4, 16}) {
    const std::vector<double> scores = many_scores(GetParam(), d, 2, kQueries);
    const auto size = static_cast<double>(d);
    const MeanAndError covariance = mean_over_queries(kQueries, [&](std::size_t query) {
      const double s1 = scores[2 * query];
      const double s2 = scores[2 * query + 1];
      return (s1 * s1 - size) * (s2 * s2 - size);
    });
    EXPECT_LT(std::abs(covariance.mean - 2 * size), 5 * covariance.std_error) << "d = " << d;
    EXPECT_LT(covariance.std_error, 0.1 * 2 * size) << "too few queries to tell";
  }
}

TEST_P(ScoresOf, NormalEntriesHaveTheKurtosisOfTheirSize) {
  // E[S^4] = d^2 (3 + 6 / d), E[S^2] = d, E[S] = 0. 5 standard errors, three checks: 2e-6.
  constexpr std::int64_t kQueries = 400000;
  for (const std::int64_t d : {1, 3, 5, 17}) {
    const std::vector<double> scores = many_scores(GetParam(), d, 1, kQueries);
    const auto size = static_cast<double>(d);
    const auto moment = [&](int power) {
      return mean_over_queries(kQueries,
                               [&](std::size_t query) { return std::pow(scores[query], power); });
    };
    const MeanAndError first = moment(1);
    const MeanAndError second = moment(2);
    const MeanAndError fourth = moment(4);
    EXPECT_LT(std::abs(first.mean), 5 * first.std_error) << "d = " << d;
    EXPECT_LT(std::abs(second.mean - size), 5 * second.std_error) << "d = " << d;
    EXPECT_LT(std::abs(fourth.mean - size * size * (3 + 6 / size)), 5 * fourth.std_error)
        << "d = " << d;
  }
}

INSTANTIATE_TEST_SUITE_P(Samplers, ScoresOf, ::testing::Values("vectors", "direct"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace attnscale
