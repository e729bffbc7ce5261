#include "estimate/given_baseline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "experiment/given.h"
#include "support/drawn_cell.h"

namespace attnscale {
namespace {

/// `queries` given queries of `d` zeros under causal attention: query i sees i + 1 keys.
Experiment causal_zeros(std::size_t queries, std::size_t d) {
  Experiment experiment;
  experiment.name = "zeros";
  experiment.given.emplace();
  experiment.given->queries.rows.assign(queries, std::vector<double>(d, 0.0));
  experiment.given->keys = experiment.given->queries;
  experiment.given->causal = true;
  experiment.given->baseline.normal = true;
  experiment.scalings = {*find_scaling("none"), *find_scaling("div_sqrt_d")};
  experiment.metrics = metric_rows({"logit_sd", "top_weight", "logit_kurtosis", "entropy"});
  return experiment;
}

std::vector<BaselineRow> baseline_of(const Experiment& experiment, std::uint64_t seed = 3) {
  const Config config = config_of(experiment, seed);
  return *measure_baseline(config, experiment, measure_given(config, experiment)->rows);
}

// Within 5 standard errors, of which a right program exceeds 6e-7; the seed is fixed.
void expect_near(const BaselineRow& row, double exact, double most_error) {
  ASSERT_TRUE(row.normal.estimate && row.normal.std_error) << row.metric;
  EXPECT_LT(std::abs(*row.normal.estimate - exact), 5 * *row.normal.std_error) << row.metric;
  EXPECT_LT(*row.normal.std_error, most_error) << row.metric;
}

TEST(GivenBaseline, StatisticsOfLogitsAreThoseOfNormalEntries) {
  for (const std::size_t queries : {20, 600}) {  // a layer for each number of keys, and fewer
    const std::vector<BaselineRow> rows = baseline_of(causal_zeros(queries, 16));
    ASSERT_EQ(rows.size(), 8U);
    expect_near(rows[0], 4, 0.1);  // sqrt(d)
    expect_near(rows[4], 1, 0.02);
    expect_near(rows[2], 3 + 6.0 / 16, 0.1);  // Isserlis: 3 + (3 * 3 - 3) / d
    expect_near(rows[6], 3 + 6.0 / 16, 0.1);
    for (const BaselineRow& row : rows) EXPECT_EQ(row.queries, static_cast<std::int64_t>(queries));
  }
}

// With d huge the scores divided by its root are independent standard normals. Of 1 key the top
// weight is 1; of 2 it is 1 / (1 + exp(-|g|)) with g normal of variance 2, whose mean is an
// integral done here by the midpoint rule to far less than the sampling error.
TEST(GivenBaseline, ShareOutQueriesAsTheGivenOnesSeeKeys) {
  double two_keys = 0;
  constexpr double kStep = 1e-3;
  for (double g = kStep / 2; g < 15; g += kStep) {
    two_keys +=
        2 * kStep * std::exp(-g * g / 4) / std::sqrt(4 * std::numbers::pi) / (1 + std::exp(-g));
  }
  Experiment experiment = causal_zeros(2, 100'000);
  experiment.metrics = metric_rows({"top_weight"});
  expect_near(baseline_of(experiment)[1], (1 + two_keys) / 2, 0.002);

  experiment.given->queries = {};
  experiment.given->keys = {};
  experiment.given->causal = false;
  experiment.given->d = 100'000;
  experiment.given->scores.rows = {{0}, {0, 0}, {0, 0}, {0, 0}};
  expect_near(baseline_of(experiment)[1], (1 + 3 * two_keys) / 4, 0.002);
}

TEST(GivenBaseline, IsAFunctionOfTheSeed) {
  const Experiment experiment = causal_zeros(5, 4);
  EXPECT_EQ(baseline_of(experiment)[1].normal.estimate, baseline_of(experiment)[1].normal.estimate);
  EXPECT_NE(baseline_of(experiment)[1].normal.estimate,
            baseline_of(experiment, 4)[1].normal.estimate);
}

TEST(GivenBaseline, RatioIsGivenOverRandom) {
  const std::vector<BaselineRow> rows = baseline_of(causal_zeros(5, 4));
  for (const BaselineRow& row : rows) {
    if (!row.estimate) continue;  // the kurtosis of zeros
    EXPECT_EQ(row.normal.ratio, *row.estimate / *row.normal.estimate) << row.metric;
  }
  Experiment one_key = causal_zeros(1, 4);
  const BaselineRow entropy = baseline_of(one_key)[3];
  EXPECT_EQ(entropy.normal.estimate, 0);  // whatever the score
  EXPECT_EQ(entropy.normal.std_error, std::nullopt);
  EXPECT_EQ(entropy.normal.ratio, std::nullopt);
}

TEST(GivenBaseline, StopsWhenAsked) {
  const Experiment experiment = causal_zeros(5, 4);
  const Config config = config_of(experiment, 1);
  const auto rows = measure_given(config, experiment)->rows;
  EXPECT_EQ(measure_baseline(config, experiment, rows, {.stop = [] { return true; }}),
            std::nullopt);
  EXPECT_EQ(measure_given(config, experiment, {.stop = [] { return true; }}), std::nullopt);
}

}  // namespace
}  // namespace attnscale
