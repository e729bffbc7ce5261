#include "experiment/given_scores.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "experiment/given_matrix.h"

namespace attnscale {
namespace {

using Rows = std::vector<std::vector<double>>;

/// Small whole numbers, whose products and sums are exact in any order.
Rows whole_rows(std::size_t rows, std::size_t columns, unsigned seed) {
  std::mt19937 random(seed);
  Rows numbers(rows, std::vector<double>(columns));
  for (auto& row : numbers) {
    for (double& number : row) number = static_cast<double>(random() % 17) - 8;
  }
  return numbers;
}

GivenMatrix matrix_of(const Rows& rows, std::int64_t heads) {
  const auto held = std::make_shared<std::vector<double>>();
  for (const auto& row : rows) held->insert(held->end(), row.begin(), row.end());
  const Matrix matrix = matrix_in_rows(
      heads, std::ssize(rows) / heads, std::ssize(rows.front()), NumberFormat::kFloat64,
      std::shared_ptr<const std::byte>(held, reinterpret_cast<const std::byte*>(held->data())));
  return {{}, GivenFile{"", "", matrix}};
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST(GivenScores, AreTheDotProductsOfEachHead) {
  constexpr std::int64_t kHeads = 2;
  constexpr std::int64_t kQueries = 301;  // two groups, the last one short
  constexpr std::int64_t kKeys = 305;
  const Rows queries = whole_rows(kHeads * kQueries, 5, 1);
  const Rows keys = whole_rows(kHeads * kKeys, 5, 2);
  for (const bool causal : {false, true}) {
    Given given;
    given.queries = matrix_of(queries, kHeads);
    given.keys = matrix_of(keys, kHeads);
    given.causal = causal;
    GivenScores scores(given);
    for (std::int64_t head = 0; head < kHeads; ++head) {
      for (std::int64_t query = 0; query < kQueries; ++query) {
        const QueryScores seen = scores.of(head, query);
        const std::span<const double> found = seen.scores;
        ASSERT_EQ(std::ssize(found), causal ? query + 5 : kKeys);
        const auto& q = queries[static_cast<std::size_t>(head * kQueries + query)];
        ASSERT_EQ(seen.squared_query_norm.size(), 1U);
        EXPECT_EQ(seen.squared_query_norm[0], dot(q, q));
        for (std::size_t key = 0; key < found.size(); ++key) {
          const auto& k = keys[static_cast<std::size_t>(head * kKeys) + key];
          EXPECT_EQ(found[key], dot(q, k));
          EXPECT_EQ(seen.squared_key_norms[key], dot(k, k));
        }
      }
    }
  }
}

TEST(GivenScores, MayBeAskedForInAnyOrder) {
  Given given;
  given.queries.rows = whole_rows(30, 3, 3);
  given.keys.rows = whole_rows(30, 3, 4);
  given.causal = true;
  GivenScores scores(given);
  for (const std::int64_t query : {29, 0, 17, 16, 3}) {
    const std::span<const double> found = scores.of(0, query).scores;
    EXPECT_EQ(std::ssize(found), query + 1);
    EXPECT_EQ(found.back(), dot(given.queries.rows[static_cast<std::size_t>(query)],
                                given.keys.rows[static_cast<std::size_t>(query)]));
  }
}

TEST(GivenScores, OfRowsAreWhatTheySay) {
  Given given;
  given.scores.rows = {{3, 1}, {2}, {5, 6, 7}};
  EXPECT_EQ(head_count(given), 1);
  EXPECT_EQ(query_count(given), 3);
  EXPECT_EQ(all_keys(given), 3);
  EXPECT_EQ(size_of(given), std::nullopt);
  given.d = 64;
  EXPECT_EQ(size_of(given), 64);
  GivenScores scores(given);
  const std::span<const double> last = scores.of(0, 2).scores;
  EXPECT_EQ(std::vector<double>(last.begin(), last.end()), (std::vector<double>{5, 6, 7}));
}

TEST(GivenScores, HideLaterKeysWhereTheyAreCausal) {
  Given given;
  given.scores.rows = {{3, 1, 4}, {1, 5, 9}};
  given.causal = true;
  GivenScores scores(given);
  EXPECT_EQ(scores.of(0, 0).scores.size(), 2U);
  EXPECT_EQ(scores.of(0, 1).scores.size(), 3U);
}

}  // namespace
}  // namespace attnscale
