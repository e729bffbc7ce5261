// The laws of the squared norms of normal queries and keys, together with their scores, for every
// sampler. Seeds are fixed; each check states the probability of a false alarm had the seed been
// chosen at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <string>

#include "support/drawn_scores.h"
#include "support/kolmogorov_smirnov.h"

namespace attnscale {
namespace {

using namespace testing_statistics;

constexpr std::int64_t kBlocks = 40;
constexpr std::int64_t kBlockQueries = 1024;
constexpr std::array<std::int64_t, 4> kSizes{1, 2, 4, 64};

DrawnQueries draw_many(std::string_view sampler, const Entries& entries, std::int64_t d,
                       std::int64_t keys) {
  DrawnQueries all;
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (std::uint64_t block = 0; block < kBlocks; ++block) {
    const DrawnQueries drawn = draw_queries(
        *find_sampler(sampler), {entries, d, keys, NormRequest::kSquaredNorms},
        {23, hash_text(sampler) + static_cast<std::uint64_t>(d), block}, kBlockQueries);
    append(all.scores, drawn.scores);
    append(all.squared_query_norms, drawn.squared_query_norms);
    append(all.squared_key_norms, drawn.squared_key_norms);
  }
  return all;
}

Entries wide_entries(double alignment) {
  Entries entries = normal_entries();
  entries.queries.sd = 3;
  entries.keys.sd = 0.5;
  entries.alignment = alignment;
  return entries;
}

std::vector<double> scaled(std::vector<double> numbers, double factor) {
  for (double& number : numbers) number *= factor;
  return numbers;
}

void expect_chi_squared(const std::vector<double>& numbers, std::int64_t degrees) {
  const boost::math::chi_squared law(static_cast<double>(degrees));
  EXPECT_LT(kolmogorov_smirnov(numbers,
                               [&](double x) { return boost::math::cdf(law, std::max(0.0, x)); }),
            kOneInAMillion);
}

/// Cosines of the angles between each query and its one key.
std::vector<double> cosines(const DrawnQueries& drawn) {
  std::vector<double> all;
  for (std::size_t i = 0; i < drawn.scores.size(); ++i) {
    all.push_back(drawn.scores[i] /
                  std::sqrt(drawn.squared_query_norms[i] * drawn.squared_key_norms[i]));
  }
  return all;
}

class NormLawsOf : public ::testing::TestWithParam<std::string> {};

// One key per query, so that all are independent. False alarm 1e-6 for each check.
TEST_P(NormLawsOf, IndependentKeys) {
  for (const std::int64_t d : kSizes) {
    SCOPED_TRACE("d = " + std::to_string(d));
    const DrawnQueries drawn = draw_many(GetParam(), wide_entries(0), d, 1);
    expect_chi_squared(scaled(drawn.squared_query_norms, 1.0 / 9), d);
    expect_chi_squared(scaled(drawn.squared_key_norms, 4), d);
    std::vector<double> squares;
    for (const double cosine : cosines(drawn)) squares.push_back(cosine * cosine);
    if (d == 1) {
      for (const double square : squares) ASSERT_NEAR(square, 1, 8 * 0x1p-53);
      continue;
    }
    const boost::math::beta_distribution<> law(0.5, static_cast<double>(d - 1) / 2);
    const auto distribution = [&](double x) { return boost::math::cdf(law, std::min(x, 1.0)); };
    EXPECT_LT(kolmogorov_smirnov(squares, distribution), kOneInAMillion);
  }
}

// An aligned key's entries are normal with the same spread, and what it has beside its part of the
// query, k - rho (sd_k / sd_q) q, is normal with spread kept sd_k and independent of the query.
TEST_P(NormLawsOf, AlignedKeys) {
  constexpr double kAlignment = -0.6;
  constexpr double kOfQuery = kAlignment * 0.5 / 3;
  for (const std::int64_t d : kSizes) {
    SCOPED_TRACE("d = " + std::to_string(d));
    const DrawnQueries drawn = draw_many(GetParam(), wide_entries(kAlignment), d, 1);
    expect_chi_squared(scaled(drawn.squared_key_norms, 4), d);
    std::vector<double> beside;
    for (std::size_t i = 0; i < drawn.scores.size(); ++i) {
      const double square = drawn.squared_key_norms[i] - 2 * kOfQuery * drawn.scores[i] +
                            kOfQuery * kOfQuery * drawn.squared_query_norms[i];
      beside.push_back(square * 4 / 0.64);
    }
    expect_chi_squared(beside, d);
  }
}

// What two keys of a query have across it, and what keys of neighbouring queries have, is
// independent: correlations 0 with standard error 1 / sqrt(n). 5 of them, 6 checks: 3e-6.
TEST_P(NormLawsOf, AcrossTheQueryAreIndependent) {
  for (const std::int64_t d : {2, 4, 64}) {
    const DrawnQueries drawn = draw_many(GetParam(), normal_entries(), d, 2);
    const auto degrees = static_cast<double>(d - 1);
    std::vector<double> across;
    for (std::size_t i = 0; i < drawn.scores.size(); ++i) {
      const double along = drawn.scores[i] * drawn.scores[i] / drawn.squared_query_norms[i / 2];
      across.push_back((drawn.squared_key_norms[i] - along - degrees) / std::sqrt(2 * degrees));
    }
    const auto correlation = [&](std::size_t apart) {
      double sum = 0;
      for (std::size_t i = 0; i + apart < across.size(); i += 2)
        sum += across[i] * across[i + apart];
      return sum / (static_cast<double>(across.size()) / 2);
    };
    const double limit = 5 / std::sqrt(static_cast<double>(across.size()) / 2);
    EXPECT_LT(std::abs(correlation(1)), limit) << "keys of a query, d = " << d;
    EXPECT_LT(std::abs(correlation(2)), limit) << "next query, d = " << d;
  }
}

INSTANTIATE_TEST_SUITE_P(Samplers, NormLawsOf, ::testing::Values("vectors", "direct", "boost"),
                         [](const auto& name) { return std::string(name.param); });

// Key norms, cosines and a sum that sees how score and norms hang together, aligned or not: false
// alarm 1e-6 for each number, d, alignment and pair of samplers. Cosines of one dimension are
// signs: ties, which the statistic is not made for.
TEST(NormLaws, AreOfOneLawWhateverTheSampler) {
  const auto numbers_of = [](const DrawnQueries& drawn) {
    std::vector<std::vector<double>> numbers{drawn.squared_key_norms, {}, cosines(drawn)};
    for (std::size_t i = 0; i < drawn.scores.size(); ++i) {
      numbers[1].push_back(drawn.squared_query_norms[i] / 9 + 4 * drawn.squared_key_norms[i] +
                           2 * drawn.scores[i]);
    }
    return numbers;
  };
  for (const double alignment : {0.0, 0.8}) {
    for (const std::int64_t d : kSizes) {
      const Entries entries = wide_entries(alignment);
      const auto boost = numbers_of(draw_many("boost", entries, d, 1));
      for (const char* const sampler : {"vectors", "direct"}) {
        const auto other = numbers_of(draw_many(sampler, entries, d, 1));
        for (std::size_t i = 0; i < (d == 1 ? 2U : 3U); ++i) {
          EXPECT_LT(kolmogorov_smirnov(boost[i], other[i]), kOneInAMillion)
              << sampler << ", d = " << d << ", number " << i << ", alignment " << alignment;
        }
      }
    }
  }
}

}  // namespace
}  // namespace attnscale
