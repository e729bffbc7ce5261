// Squared norms that samplers return on request: that asking moves no score, and that they are the
// norms of the vectors behind the scores. Their laws are in norm_statistics_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "draw/draw_block.h"
#include "numerics/entry_kernel.h"
#include "numerics/normal_kernel.h"
#include "support/drawn_scores.h"
#include "support/forced_target.h"

namespace attnscale {
namespace {

using ::testing::ElementsAreArray;

constexpr BlockAddress kAddress{3, 0x5ca1ab1e, 2};

Draw asking(Entries entries, std::int64_t d, std::int64_t keys) {
  return {std::move(entries), d, keys, NormRequest::kSquaredNorms};
}

Entries aligned_entries(double alignment, std::optional<std::int64_t> aligned_keys) {
  Entries entries = normal_entries();
  entries.queries.sd = 2;
  entries.keys.sd = 0.75;
  entries.alignment = alignment;
  entries.aligned_keys = aligned_keys;
  return entries;
}

Entries entries_of_law(std::string_view name, std::vector<double> parameters) {
  const Law law{find_law(name), std::move(parameters), 0, 1};
  return {std::string(name), {}, law, law};
}

/// Every kind of entries that the sampler can give norms of: kernel or not, aligned or not.
std::vector<Entries> entries_with_norms(const SamplerRow& sampler) {
  std::vector<Entries> all{
      normal_entries(),        normal_entries(0.5, 2),           aligned_entries(0.6, 3),
      aligned_entries(-1, {}), entries_of_law("student_t", {3}), entries_of_law("sparse", {0.25})};
  all.back().alignment = 0.5;
  std::erase_if(all, [&](const Entries& entries) {
    return !sampler.can_draw(entries) || !sampler.can_give_norms(entries);
  });
  return all;
}

class NormsOf : public ::testing::TestWithParam<SamplerRow> {};

TEST_P(NormsOf, AreEmptyUnlessAskedFor) {
  GetParam().draw_block({normal_entries(), 3, 5}, kAddress, 9, [](const ScoreTile& tile) {
    EXPECT_TRUE(tile.squared_query_norms.empty());
    EXPECT_TRUE(tile.squared_key_norms.empty());
    return true;
  });
}

TEST_P(NormsOf, AreFiniteAndOneForEveryLane) {
  for (const std::int64_t keys : {1, 3, 513}) {
    for (const std::int64_t d : {1, 2, 17}) {
      GetParam().draw_block(
          asking(normal_entries(), d, keys), kAddress, 601, [](const ScoreTile& tile) {
            EXPECT_EQ(std::ssize(tile.squared_query_norms), padded(tile.queries));
            EXPECT_EQ(tile.squared_key_norms.size(), tile.scores.size());
            const auto is_norm = [](double x) { return x >= 0 && std::isfinite(x); };
            EXPECT_TRUE(std::ranges::all_of(tile.squared_query_norms, is_norm));
            EXPECT_TRUE(std::ranges::all_of(tile.squared_key_norms, is_norm));
            return true;
          });
    }
  }
}

TEST_P(NormsOf, AQueryAreTheSameInEveryTile) {
  double of_first_tile = 0;
  int tiles = 0;
  GetParam().draw_block(asking(normal_entries(), 6, 5000), kAddress, 1, [&](const ScoreTile& tile) {
    if (tile.first_key == 0) of_first_tile = tile.squared_query_norms[0];
    EXPECT_EQ(tile.squared_query_norms[0], of_first_tile);
    ++tiles;
    return true;
  });
  EXPECT_GT(tiles, 1);
  EXPECT_GT(of_first_tile, 0);
}

TEST_P(NormsOf, MoveNoScore) {
  const std::vector<Entries> all = entries_with_norms(GetParam());
  ASSERT_GE(all.size(), 3U);
  for (const Entries& entries : all) {
    for (const std::int64_t d : {1, 2, 3, 259}) {
      for (const std::int64_t keys : {1, 7, 600}) {
        EXPECT_EQ(draw_scores(GetParam(), asking(entries, d, keys), kAddress, 9),
                  draw_scores(GetParam(), {entries, d, keys}, kAddress, 9))
            << entries.name << ", d = " << d << ", keys " << keys;
      }
    }
  }
}

TEST_P(NormsOf, AShorterBlockAreTheBeginningOfALongerOnes) {
  for (const std::int64_t keys : {1, 3, 513}) {
    const Draw draw = asking(aligned_entries(0.6, 2), 5, keys);
    const DrawnQueries whole = draw_queries(GetParam(), draw, kAddress, 600);
    for (const std::int64_t queries : {1, 9, 511}) {
      const DrawnQueries part = draw_queries(GetParam(), draw, kAddress, queries);
      const auto first_of = [](const std::vector<double>& numbers, std::size_t size) {
        return std::vector(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(size));
      };
      EXPECT_EQ(part.squared_query_norms,
                first_of(whole.squared_query_norms, part.squared_query_norms.size()));
      EXPECT_EQ(part.squared_key_norms,
                first_of(whole.squared_key_norms, part.squared_key_norms.size()));
    }
  }
}

TEST_P(NormsOf, AreTheSameBytesOnEveryInstructionSet) {
  for (const Entries& entries : entries_with_norms(GetParam())) {
    const Draw draw = asking(entries, 37, 9);
    const DrawnQueries chosen_by_itself = draw_queries(GetParam(), draw, kAddress, 300);
    for (const std::int64_t target : targets_with_same_bytes()) {
      const ForcedTarget forced(target);
      EXPECT_EQ(draw_queries(GetParam(), draw, kAddress, 300), chosen_by_itself) << entries.name;
    }
  }
}

TEST_P(NormsOf, GrowWithTheSpread) {
  // Powers of two: exact, also where the square of a score would underflow.
  for (const double alignment : {0.0, 0.5}) {
    for (const double sd : {4.0, 0x1p-400}) {
      Draw draw = asking(normal_entries(), 7, 5);
      draw.entries.alignment = alignment;
      const DrawnQueries plain = draw_queries(GetParam(), draw, kAddress, 9);
      draw.entries.queries.sd = sd;
      draw.entries.keys.sd = sd / 8;
      const DrawnQueries spread = draw_queries(GetParam(), draw, kAddress, 9);
      for (std::size_t i = 0; i < plain.squared_key_norms.size(); ++i) {
        EXPECT_EQ(spread.squared_key_norms[i], sd * sd / 64 * plain.squared_key_norms[i]);
        EXPECT_EQ(spread.squared_query_norms[i / 5], sd * sd * plain.squared_query_norms[i / 5]);
      }
    }
  }
}

// Cauchy and Schwarz, with equality in one dimension. Score and norms are each off by at most
// d + 4 roundings of |q| |k|, or of |q|^2 + |k|^2 of the independent key where it is aligned.
TEST_P(NormsOf, BoundTheScore) {
  for (const double alignment : {0.0, 0.9, -1.0}) {
    for (const std::int64_t d : {1, 2, 4, 64}) {
      const Entries entries = aligned_entries(alignment, {});
      const DrawnQueries drawn = draw_queries(GetParam(), asking(entries, d, 3), kAddress, 1000);
      for (std::size_t i = 0; i < drawn.scores.size(); ++i) {
        const double score = std::abs(drawn.scores[i]);
        const double q = std::sqrt(drawn.squared_query_norms[i / 3]);
        const double k = std::sqrt(drawn.squared_key_norms[i]);
        const double rounding = static_cast<double>(d + 4) * 0x1p-52;
        const double error = rounding * q * (alignment == 0 ? k : k + q);
        ASSERT_LE(score, q * k + error) << "d = " << d << ", alignment " << alignment;
        if (d == 1 || std::abs(alignment) == 1) {
          ASSERT_GE(score, q * k - error) << "d = " << d << ", alignment " << alignment;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Samplers, NormsOf,
                         ::testing::ValuesIn(sampler_table().begin(), sampler_table().end()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(NormsOfVectorsAndDirect, DoNotChangeWithMoreKeys) {
  for (const std::string_view name : {"vectors", "direct"}) {
    const SamplerRow& sampler = *find_sampler(name);
    const DrawnQueries few = draw_queries(sampler, asking(normal_entries(), 6, 3), kAddress, 20);
    const DrawnQueries many = draw_queries(sampler, asking(normal_entries(), 6, 700), kAddress, 20);
    EXPECT_EQ(few.squared_query_norms, many.squared_query_norms);
    for (std::size_t query = 0; query < 20; ++query) {
      EXPECT_THAT(std::span(few.squared_key_norms).subspan(query * 3, 3),
                  ElementsAreArray(std::span(many.squared_key_norms).subspan(query * 700, 3)));
    }
  }
}

// A key's norm is made of its part along the query, known from the score, and a number of its own,
// which no key of another tile shares. Rounding: three steps.
TEST(NormsOfDirect, AreThoseOfAPartAlongAndAPartAcross) {
  constexpr std::int64_t kKeys = 5000;
  const DrawnQueries drawn = draw_queries(*find_sampler("direct"),
                                          asking(aligned_entries(0.6, 700), 6, kKeys), kAddress, 2);
  std::vector<double> across(kKeys * kLanes);
  draw_chi_squared_of_keys(stream_key(kAddress, StreamPurpose::kKeyNorms), 0, 0, kKeys, 5, across);
  for (std::size_t i = 0; i < drawn.scores.size(); ++i) {
    const std::size_t query = i / kKeys;
    const std::size_t key = i % kKeys;
    const double kept_squared = key < 700 ? 0.64 : 1;  // 1 - 0.6^2
    const double expected = drawn.scores[i] * drawn.scores[i] / drawn.squared_query_norms[query] +
                            kept_squared * 0.75 * 0.75 * across[key * kLanes + query];
    ASSERT_NEAR(drawn.squared_key_norms[i], expected, 8 * 0x1p-53 * expected) << "key " << key;
  }
}

/// Sums over the entries of a query and a key, in long double.
struct ExactSums {
  long double squared_query_norm = 0;
  long double squared_key_norm = 0;
  long double squared_parts = 0;  // of the query's share of the key and of the rest

  void add(long double q, long double share_of_query, long double rest) {
    squared_query_norm += q * q;
    squared_key_norm += (share_of_query + rest) * (share_of_query + rest);
    squared_parts += share_of_query * share_of_query + rest * rest;
  }
};

void expect_norms(const DrawnQueries& drawn, std::size_t query, std::size_t place,
                  const ExactSums& exact, double relative_error) {
  const auto q2 = static_cast<double>(exact.squared_query_norm);
  const auto k2 = static_cast<double>(exact.squared_key_norm);
  const auto parts = static_cast<double>(exact.squared_parts);
  EXPECT_NEAR(drawn.squared_query_norms[query], q2, relative_error * q2);
  EXPECT_NEAR(drawn.squared_key_norms[place], k2, relative_error * parts);
}

// The stream of a block holds the entries of a query, then of each of its keys. A plain sum of d
// squares is off by at most d + 1 roundings.
TEST(NormsOfBoost, AreThoseOfItsEntries) {
  Entries turned = entries_of_law("student_t", {3});
  turned.queries = {find_law("normal"), {}, 0.5, 2};
  turned.keys.mean = -1;
  turned.alignment = 0.75;
  turned.aligned_keys = 2;
  for (const Entries& entries : {normal_entries(), normal_entries(0.5, 2), turned}) {
    constexpr std::size_t kD = 100;
    const DrawnQueries drawn =
        draw_queries(*find_sampler("boost"), asking(entries, kD, 3), kAddress, 12);
    RandomStream words(kAddress, StreamPurpose::kEntries);
    const auto standardised = [&](const Law& law) {
      std::vector<double> vector(kD);
      law.row->fill(law.parameters, words, vector);
      return vector;
    };
    for (std::size_t query = 0; query < 12; ++query) {
      const std::vector<double> x = standardised(entries.queries);
      for (std::size_t key = 0; key < 3; ++key) {
        const std::vector<double> y = standardised(entries.keys);
        const double rho = key < 2 ? entries.alignment : 0;
        ExactSums exact;
        for (std::size_t i = 0; i < kD; ++i) {
          exact.add(entries.queries.mean + entries.queries.sd * x[i], entries.keys.sd * rho * x[i],
                    entries.keys.mean + entries.keys.sd * std::sqrt(1 - rho * rho) * y[i]);
        }
        expect_norms(drawn, query, query * 3 + key, exact, (kD + 8) * 0x1p-53);
      }
    }
  }
}

/// Entries of one vector of one query of kAddress, as `vectors` draws them.
std::vector<double> entries_of_vector(const Law& law, std::size_t d, std::size_t query,
                                      std::size_t vector) {
  const auto size = static_cast<std::int64_t>(d);
  std::vector<double> rows(static_cast<std::size_t>(entry_rows(size) * kLanes));
  draw_entries(stream_key(kAddress, StreamPurpose::kEntries), static_cast<std::int64_t>(query),
               static_cast<std::int64_t>(vector), entry_shape(law), size, rows);
  std::vector<double> entries(d);
  for (std::size_t i = 0; i < d; ++i) entries[i] = rows[i * kLanes];
  return entries;
}

// The bounds of draw_block_vectors. An aligned key's norm comes from three sums, each as accurate:
// the errors of the formula are at most some ten times theirs, so that 1e-12, 34 times, is enough.
TEST(NormsOfVectors, AreThoseOfTheirEntries) {
  Entries mixed = entries_of_law("laplace", {});
  mixed.queries = {find_law("normal"), {}, 0, 2};
  mixed.alignment = 0.75;
  mixed.aligned_keys = 2;
  for (const Entries& entries :
       {normal_entries(), normal_entries(0.5, 2), entries_of_law("student_t", {3}), mixed}) {
    for (const std::size_t d : {1U, 2U, 3U, 5U, 257U, 1000U}) {
      const DrawnQueries drawn = draw_queries(
          *find_sampler("vectors"), asking(entries, static_cast<std::int64_t>(d), 3), kAddress, 10);
      for (std::size_t query = 0; query < 10; ++query) {
        const std::vector<double> q = entries_of_vector(entries.queries, d, query, 0);
        for (std::size_t key = 0; key < 3; ++key) {
          const std::vector<double> k = entries_of_vector(entries.keys, d, query, 1 + key);
          const double rho = key < 2 ? entries.alignment : 0;
          const double of_query = rho * entries.keys.sd / entries.queries.sd;
          ExactSums exact;
          for (std::size_t i = 0; i < d; ++i) {
            exact.add(q[i], of_query * q[i], std::sqrt(1 - rho * rho) * k[i]);
          }
          expect_norms(drawn, query, query * 3 + key, exact, rho == 0 ? 259 * 0x1p-53 : 1e-12);
        }
      }
    }
  }
}

TEST(NormsOfVectors, AreNotGivenOfAlignedKeysWithAMean) {
  Entries entries = normal_entries(0.5, 1);
  EXPECT_TRUE(can_give_norms_vectors(entries));
  entries.alignment = 0.5;
  EXPECT_FALSE(can_give_norms_vectors(entries));
  entries.queries.mean = 0;
  EXPECT_FALSE(can_give_norms_vectors(entries));
  entries.keys.mean = 0;
  EXPECT_TRUE(can_give_norms_vectors(entries));
  EXPECT_TRUE(find_sampler("boost")->can_give_norms(normal_entries(0.5, 1)));
}

TEST(NormsOfVectors, OfAQueryOfZerosAreFinite) {
  Entries entries = entries_of_law("sparse", {0.01});
  entries.alignment = 0.5;
  const DrawnQueries drawn =
      draw_queries(*find_sampler("vectors"), asking(entries, 4, 2), kAddress, 200);
  EXPECT_THAT(drawn.squared_query_norms, ::testing::Contains(0.0));
  for (const double norm : drawn.squared_key_norms) EXPECT_TRUE(std::isfinite(norm));
}

}  // namespace
}  // namespace attnscale
