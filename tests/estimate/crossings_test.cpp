#include "estimate/crossings.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscale {
namespace {

ResultRow top_weight_row(std::int64_t d, double mean, std::optional<double> median) {
  ResultRow row;
  row.key = {"run", 3, "softmax", "normal", {}, d, 8, "none", {}};
  row.metric = "top_weight";
  row.estimate = mean;
  row.median = median;
  return row;
}

// Means on the straight line ln(1 - w) = ln(1/2) - ln(d / 4) / 2; medians twice as near to 1.
std::vector<ResultRow> straight_line(const std::vector<std::int64_t>& sizes) {
  std::vector<ResultRow> rows;
  for (const std::int64_t d : sizes) {
    const double rest = 1 / std::sqrt(static_cast<double>(d));
    rows.push_back(top_weight_row(d, 1 - rest, 1 - rest / 2));
  }
  return rows;
}

TEST(Crossings, LieOnTheStraightLineInLogarithms) {
  // 1 - level = 1 / sqrt(d): d = 4, 100 and 10,000; for the medians a quarter of that.
  const auto crossings = find_crossings(straight_line({2, 16, 64, 256, 20000}));
  ASSERT_EQ(crossings.size(), 6U);
  const std::vector<double> levels{0.5, 0.9, 0.99, 0.5, 0.9, 0.99};
  const std::vector<double> sizes{4, 100, 10000, 1, 25, 2500};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(crossings[i].metric, "top_weight");
    EXPECT_EQ(crossings[i].statistic, i < 3 ? "mean" : "median");
    EXPECT_EQ(crossings[i].level, levels[i]);
    EXPECT_EQ(crossings[i].key.d, std::nullopt);
    EXPECT_EQ(crossings[i].key.scaling, "none");
    if (i == 3) {  // the median at d = 2 is 0.65 already
      EXPECT_EQ(crossings[i].status, CrossingStatus::kBelow);
      EXPECT_EQ(crossings[i].d, std::nullopt);
    } else {
      EXPECT_EQ(crossings[i].status, CrossingStatus::kOk);
      EXPECT_NEAR(*crossings[i].d, sizes[i], 1e-9 * sizes[i]);
    }
  }
}

// The error of d by differences: each mean is moved alone by a thousandth of its own error.
TEST(Crossings, HaveTheErrorThatTheirTwoSizesGiveThem) {
  const std::vector<std::int64_t> sizes{2, 16, 64, 256, 20000};
  std::vector<ResultRow> rows = straight_line(sizes);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].std_error = 1e-3 * static_cast<double>(i + 1);
    rows[i].median_std_error = 2e-3 * static_cast<double>(i + 1);
  }
  const auto crossings = find_crossings(rows);
  for (std::size_t c = 0; c < crossings.size(); ++c) {
    if (crossings[c].status != CrossingStatus::kOk) {
      EXPECT_EQ(crossings[c].d_std_error, std::nullopt);
      continue;
    }
    double square = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool of_mean = crossings[c].statistic == "mean";
      const double error = of_mean ? *rows[i].std_error : *rows[i].median_std_error;
      std::vector<ResultRow> moved = rows;
      (of_mean ? moved[i].estimate : moved[i].median).value() += 1e-3 * error;
      const double change = (*find_crossings(moved)[c].d - *crossings[c].d) / 1e-3;
      square += change * change;
    }
    EXPECT_NEAR(*crossings[c].d_std_error / std::sqrt(square), 1, 0.01) << c;
  }
  rows[1].std_error.reset();
  EXPECT_EQ(find_crossings(rows)[0].d_std_error, std::nullopt);
}

TEST(Crossings, DoNotDependOnTheOrderOfTheRows) {
  const auto sorted = find_crossings(straight_line({4, 16, 64, 256}));
  const auto shuffled = find_crossings(straight_line({64, 4, 256, 16}));
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    EXPECT_EQ(sorted[i].d, shuffled[i].d);
    EXPECT_EQ(sorted[i].status, shuffled[i].status);
  }
}

TEST(Crossings, AreExactAtAMeasuredSize) {
  const auto crossings = find_crossings(
      {top_weight_row(4, 0.25, {}), top_weight_row(16, 0.5, {}), top_weight_row(64, 0.75, {})});
  ASSERT_EQ(crossings.size(), 3U);
  EXPECT_NEAR(*crossings[0].d, 16, 1e-12);
}

TEST(Crossings, AreReachedByAWeightThatIsTheLevel) {
  const auto crossings = find_crossings({top_weight_row(4, 0.25, {}), top_weight_row(16, 0.5, {})});
  EXPECT_EQ(crossings[0].status, CrossingStatus::kOk);
  EXPECT_NEAR(*crossings[0].d, 16, 1e-12);
  EXPECT_EQ(crossings[1].status, CrossingStatus::kNotReached);
}

TEST(Crossings, SayWhereALevelIsNotReached) {
  const auto crossings = find_crossings(straight_line({16, 64}));  // means 0.75, 0.875
  EXPECT_EQ(crossings[0].status, CrossingStatus::kBelow);
  EXPECT_EQ(crossings[1].status, CrossingStatus::kNotReached);
  EXPECT_EQ(crossings[1].d, std::nullopt);
}

TEST(Crossings, SurviveAWeightThatRoundsToOne) {
  const auto crossings = find_crossings({top_weight_row(4, 0.4, {}), top_weight_row(8, 1, {})});
  for (const CrossingRow& row : crossings) {
    EXPECT_EQ(row.status, CrossingStatus::kOk);
    EXPECT_GT(*row.d, 4);
    EXPECT_LT(*row.d, 8);
  }
}

TEST(Crossings, AreFoundFamilyByFamily) {
  std::vector<ResultRow> rows = straight_line({4, 256});
  for (ResultRow row : straight_line({4, 256})) {
    row.key.scaling = "div_d";
    row.estimate = row.median = 0.2;
    rows.insert(rows.begin(), row);
  }
  const auto crossings = find_crossings(rows);
  ASSERT_EQ(crossings.size(), 12U);
  EXPECT_EQ(crossings[1].key.scaling, "div_d");
  EXPECT_EQ(crossings[1].status, CrossingStatus::kNotReached);
  EXPECT_EQ(crossings[7].key.scaling, "none");
  EXPECT_NEAR(*crossings[7].d, 100, 1e-9);
}

TEST(Crossings, NeedTwoMeasuredSizes) {
  EXPECT_TRUE(find_crossings(straight_line({16})).empty());
  std::vector<ResultRow> rows = straight_line({4, 256});
  rows[0].estimate = std::nullopt;  // nonfinite there
  const auto crossings = find_crossings(rows);
  ASSERT_EQ(crossings.size(), 3U);
  for (const CrossingRow& row : crossings) EXPECT_EQ(row.statistic, "median");
}

TEST(Crossings, LeaveOutGivenNumbersAndOtherMetrics) {
  std::vector<ResultRow> rows = straight_line({4, 256});
  for (ResultRow& row : rows) row.key.entries = "";
  EXPECT_TRUE(find_crossings(rows).empty());
  rows = straight_line({4, 256});
  for (ResultRow& row : rows) row.metric = "sum_p2";
  EXPECT_TRUE(find_crossings(rows).empty());
}

}  // namespace
}  // namespace attnscale
