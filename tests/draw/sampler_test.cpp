// What holds for every sampler of the table, and what each promises about its numbers. Their
// statistics are in sampler_statistics_test.cpp.
#include "draw/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "draw/draw_block.h"
#include "numerics/entry_kernel.h"
#include "numerics/normal_kernel.h"
#include "support/drawn_scores.h"
#include "support/forced_target.h"

namespace attnscale {
namespace {

using ::testing::ElementsAreArray;

constexpr BlockAddress kAddress{3, 0x5ca1ab1e, 2};

std::vector<double> some_parameters(const LawRow& row) {
  std::vector<double> parameters;
  for (const LawParameter& parameter : row.parameters) {
    parameters.push_back(std::min(parameter.above + 5, (parameter.above + parameter.at_most) / 2));
  }
  return parameters;
}

class EverySampler : public ::testing::TestWithParam<SamplerRow> {};

TEST_P(EverySampler, CoversEveryQueryAndKeyOnceAndInOrder) {
  for (const std::int64_t queries : {1, 7, 9}) {
    for (const std::int64_t keys : {1, 3, 513}) {
      for (const std::int64_t d : {1, 2, 3, 5, 17}) {
        std::int64_t expected_query = 0;
        std::int64_t expected_key = 0;
        GetParam().draw_block(
            {normal_entries(), d, keys}, kAddress, queries, [&](const ScoreTile& tile) {
              EXPECT_EQ(tile.first_query, expected_query);
              EXPECT_EQ(tile.first_key, expected_key);
              EXPECT_EQ(std::ssize(tile.scores), padded(tile.queries) * tile.keys);
              for (const double score : tile.scores) {
                EXPECT_TRUE(std::isfinite(score));
              }
              expected_key += tile.keys;
              if (expected_key == keys) {
                expected_key = 0;
                expected_query += tile.queries;
              }
              return true;
            });
        EXPECT_EQ(expected_query, queries) << "keys " << keys << ", d " << d;
        EXPECT_EQ(expected_key, 0);
      }
    }
  }
}

TEST_P(EverySampler, AShorterBlockIsTheBeginningOfALongerOne) {
  for (const std::int64_t keys : {1, 3, 513}) {
    const Draw draw{normal_entries(), 5, keys};
    const std::vector<double> whole = draw_scores(GetParam(), draw, kAddress, 600);
    for (const std::int64_t queries : {1, 7, 9, 511}) {
      const std::vector<double> part = draw_scores(GetParam(), draw, kAddress, queries);
      EXPECT_THAT(part, ElementsAreArray(std::span(whole).first(part.size()))) << queries;
    }
  }
}

TEST_P(EverySampler, StopsWhenTheSinkSaysSo) {
  int tiles = 0;
  GetParam().draw_block({normal_entries(), 2, 1000}, kAddress, 100,
                        [&](const ScoreTile&) { return ++tiles < 2; });
  EXPECT_EQ(tiles, 2);
}

TEST_P(EverySampler, SpreadMultipliesScores) {
  // Powers of two: exact.
  Draw draw{normal_entries(), 7, 5};
  const std::vector<double> plain = draw_scores(GetParam(), draw, kAddress, 9);
  draw.entries.queries.sd = 4;
  draw.entries.keys.sd = 0.5;
  const std::vector<double> spread = draw_scores(GetParam(), draw, kAddress, 9);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(spread[i], 2 * plain[i]);
}

TEST_P(EverySampler, GivesTheSameBytesOnEveryInstructionSet) {
  const Draw draw{normal_entries(), 37, 9};
  const std::vector<double> chosen_by_itself = draw_scores(GetParam(), draw, kAddress, 300);
  for (const std::int64_t target : targets_with_same_bytes()) {
    const ForcedTarget forced(target);
    EXPECT_EQ(draw_scores(GetParam(), draw, kAddress, 300), chosen_by_itself);
  }
}

INSTANTIATE_TEST_SUITE_P(Samplers, EverySampler,
                         ::testing::ValuesIn(sampler_table().begin(), sampler_table().end()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(VectorsAndDirect, MoreKeysMoveNoScore) {
  for (const std::string_view name : {"vectors", "direct"}) {
    const SamplerRow& sampler = *find_sampler(name);
    const std::vector<double> few = draw_scores(sampler, {normal_entries(), 6, 3}, kAddress, 20);
    const std::vector<double> many = draw_scores(sampler, {normal_entries(), 6, 700}, kAddress, 20);
    for (std::size_t query = 0; query < 20; ++query) {
      EXPECT_THAT(std::span(few).subspan(query * 3, 3),
                  ElementsAreArray(std::span(many).subspan(query * 700, 3)));
    }
  }
}

// The bound of score_drawn_keys, of every law.
TEST(VectorsSampler, ScoresAreDotProductsOfTheEntriesDrawn) {
  constexpr std::size_t kD = 700;
  const StreamKey words = stream_key(kAddress, StreamPurpose::kEntries);
  for (const LawRow& row : law_table()) {
    SCOPED_TRACE(row.name);
    const Law law{&row, some_parameters(row), 0.5, 2};
    const Draw draw{{"law", {}, law, law}, kD, 3};
    const std::vector<double> scores = draw_scores(*find_sampler("vectors"), draw, kAddress, 9);
    std::vector<std::vector<double>> vectors(4, std::vector<double>(kD * 16));
    for (std::size_t i = 0; i < 4; ++i) {
      draw_entries(words, 0, static_cast<std::int64_t>(i), entry_shape(law), kD, vectors[i]);
    }
    for (std::size_t query = 0; query < 9; ++query) {
      for (std::size_t key = 0; key < 3; ++key) {
        long double exact = 0;
        long double magnitude = 0;
        for (std::size_t i = 0; i < kD; ++i) {
          const long double term = static_cast<long double>(vectors[0][i * 16 + query]) *
                                   static_cast<long double>(vectors[1 + key][i * 16 + query]);
          exact += term;
          magnitude += std::abs(term);
        }
        EXPECT_LE(std::abs(scores[query * 3 + key] - exact),
                  0x1p-53L * (67 * magnitude + 2 * std::abs(exact)));
      }
    }
  }
}

// A stop is asked between tiles, so none may take long: 2^24 entries are some 20 ms.
TEST(VectorsSampler, TilesOfLongVectorsHoldFewScores) {
  constexpr std::int64_t kLongVector = 65536;
  find_sampler("vectors")->draw_block(
      {normal_entries(), kLongVector, 600}, kAddress, 8, [](const ScoreTile& tile) {
        EXPECT_LE(std::ssize(tile.scores) * kLongVector, std::int64_t{1} << 24);
        return tile.first_key == 0;
      });
  EXPECT_EQ(tile_shape(600, 8, 256).queries, 8);
  EXPECT_EQ(tile_shape(600, 8, 256).keys, 32);
  EXPECT_EQ(tile_shape(600, 8, 0).keys, 1);
  EXPECT_EQ(tile_shape(16, 8, 256).queries, 16);
}

TEST(VectorsSampler, LongestVectorsRun) {
  const Draw draw{normal_entries(), 65536, 2};
  const std::vector<double> scores = draw_scores(*find_sampler("vectors"), draw, kAddress, 3);
  // A score's standard deviation is 256; 6 of them: false alarm 1.2e-8.
  for (const double score : scores) EXPECT_LT(std::abs(score), 6 * 256);
}

TEST(DirectSampler, DrawsCentredNormalEntriesAndFairSignsOnly) {
  EXPECT_TRUE(can_draw_direct(normal_entries(0, 3)));
  EXPECT_FALSE(can_draw_direct(normal_entries(0.1, 1)));
  Entries entries = normal_entries();
  entries.keys.row = find_law("rademacher");
  EXPECT_FALSE(can_draw_direct(entries));
  std::swap(entries.queries, entries.keys);
  EXPECT_FALSE(can_draw_direct(entries));
  entries.keys.row = find_law("rademacher");
  EXPECT_TRUE(can_draw_direct(entries));
  entries.alignment = 0.5;
  EXPECT_FALSE(can_draw_direct(entries));
}

TEST(DirectSampler, SquaredNormsOnRequestAreThoseBehindTheScores) {
  Draw draw{normal_entries(), 12, 5};
  draw.entries.queries.sd = 3;
  draw.entries.keys.sd = 0.25;
  std::vector<double> squared_norms(16);
  draw_squared_query_norms(draw, kAddress, 0, squared_norms);
  std::vector<double> normals(5 * 16);
  draw_scaled_normals(stream_key(kAddress, StreamPurpose::kScores), 0, 0,
                      std::vector<double>(16, 1.0), normals);
  const std::vector<double> scores = draw_scores(*find_sampler("direct"), draw, kAddress, 11);
  for (std::size_t query = 0; query < 11; ++query) {
    for (std::size_t key = 0; key < 5; ++key) {
      EXPECT_DOUBLE_EQ(scores[query * 5 + key],
                       std::sqrt(squared_norms[query]) * 0.25 * normals[key * 16 + query]);
    }
  }
}

// Chi-squared numbers of d degrees have the mean d and the variance 2 d: 5 standard errors each,
// false alarm 4 * 6e-7.
TEST(DirectSampler, SquaredNormsHaveTheMeanOfTheirSize) {
  constexpr std::size_t kNorms = 1 << 18;
  std::vector<double> squared_norms(kNorms);
  for (const std::int64_t d : {64, 65, 256, 1024}) {
    draw_squared_query_norms({normal_entries(), d, 5}, kAddress, 0, squared_norms);
    const double mean = std::accumulate(squared_norms.begin(), squared_norms.end(), 0.0) / kNorms;
    const auto size = static_cast<double>(d);
    EXPECT_NEAR(mean, size, 5 * std::sqrt(2 * size / kNorms)) << d;
  }
}

TEST(DirectSampler, AMillionKeysComeInTiles) {
  std::int64_t keys_seen = 0;
  find_sampler("direct")->draw_block({normal_entries(), 64, std::int64_t{1} << 20}, kAddress, 1,
                                     [&](const ScoreTile& tile) {
                                       EXPECT_LE(tile.scores.size(), 4096U);
                                       keys_seen += tile.keys;
                                       return true;
                                     });
  EXPECT_EQ(keys_seen, std::int64_t{1} << 20);
}

}  // namespace
}  // namespace attnscale
