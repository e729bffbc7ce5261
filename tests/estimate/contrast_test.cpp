#include "estimate/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "estimate/interval.h"
#include "support/drawn_cell.h"

namespace attnscale {
namespace {

std::vector<ContrastRow> contrasts_of(const Experiment& experiment) {
  const Plan plan = plan_of(experiment);
  const Cell& cell = plan.cells.front();
  return contrast_cell(plan, cell, measure_cell(plan, cell), ExactValues(ReferenceMode::kOff));
}

// The contrast of one metric whose values under two scalings are given.
ContrastRow contrast_of_values(const std::string& metric, const std::vector<double>& baseline,
                               const std::vector<double>& own, const Law* law = nullptr) {
  Experiment experiment = drawn_experiment("direct", 4, 8, std::ssize(own));
  experiment.scalings.resize(2);
  experiment.metrics = metric_rows({metric});
  if (law) experiment.entries[0].queries = *law;
  const Plan plan = plan_of(experiment);
  BlockValues block;
  block.queries = std::ssize(own);
  block.metrics = {{baseline}, {own}};
  block.complements = {{{}}, {{}}};
  block.logit_powers = {{}, {}};
  block.root_mean_squares = {find_metric(metric)->is_root_mean_square};
  return contrast_cell(plan, plan.cells.front(), {moments_of(block), {}},
                       ExactValues(ReferenceMode::kOff))
      .front();
}

TEST(Contrast, IsEveryScalingLessTheFirst) {
  Experiment experiment = drawn_experiment("direct", 16, 8, 300);
  experiment.metrics = metric_rows({"slope", "logit_sd", "top_weight"});
  const auto rows = contrasts_of(experiment);
  const auto summary = run_config(config_of(experiment));
  ASSERT_EQ(rows.size(), 6U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string& scaling = experiment.scalings[1 + i / 3].name;
    const std::string metric(experiment.metrics[i % 3]->name);
    EXPECT_EQ(rows[i].key.scaling, scaling);
    EXPECT_EQ(rows[i].metric, metric);
    EXPECT_EQ(rows[i].baseline, "none");
    EXPECT_EQ(rows[i].queries, 300);
    const double difference =
        *row_of(summary, scaling, metric).estimate - *row_of(summary, "none", metric).estimate;
    EXPECT_NEAR(*rows[i].estimate, difference, 1e-13);
  }
}

TEST(Contrast, OfOneQueryHasNoError) {
  const ContrastRow row = contrast_of_values("slope", {0.25}, {0.75});
  EXPECT_EQ(row.estimate, 0.5);
  EXPECT_EQ(row.std_error, std::nullopt);
  EXPECT_EQ(row.ci_low, std::nullopt);
}

TEST(Contrast, OneScalingHasNone) {
  Experiment experiment = drawn_experiment("direct", 16, 8, 10);
  experiment.scalings.resize(1);
  EXPECT_TRUE(contrasts_of(experiment).empty());
}

// Differences 1, 2, 3: mean 2, standard error sqrt(1 / 3), t with 2 degrees of freedom 4.302653.
TEST(Contrast, HasTheErrorOfTheDifferences) {
  const ContrastRow row = contrast_of_values("margin", {10, 50, -40}, {11, 52, -37});
  EXPECT_DOUBLE_EQ(*row.estimate, 2);
  EXPECT_DOUBLE_EQ(*row.std_error, std::sqrt(1.0 / 3));
  EXPECT_NEAR(*row.ci_low, 2 - 4.302653 * std::sqrt(1.0 / 3), 1e-5);
  EXPECT_NEAR(*row.ci_high, 2 + 4.302653 * std::sqrt(1.0 / 3), 1e-5);
}

TEST(Contrast, HasNoErrorBarWhereNothingVaried) {
  const ContrastRow row = contrast_of_values("margin", {10, 50}, {11, 51});
  EXPECT_EQ(row.estimate, 1);
  EXPECT_FALSE(row.std_error || row.ci_low || row.ci_high);
}

TEST(Contrast, LeavesOutQueriesWithANumberThatIsNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ContrastRow row = contrast_of_values("margin", {10, nan, 3, 7}, {11, 51, 7, nan});
  EXPECT_EQ(row.queries, 2);
  EXPECT_EQ(row.left_out, 2);
  EXPECT_DOUBLE_EQ(*row.estimate, 2.5);
  EXPECT_DOUBLE_EQ(*row.std_error, 1.5);
  const ContrastRow none = contrast_of_values("margin", {nan}, {11});
  EXPECT_EQ(none.queries, 0);
  EXPECT_FALSE(none.estimate || none.std_error || none.ci_low || none.ci_high);
}

// Roots of mean squares 5 (of 1 and 7) and 10 (of 10 and 10): only the first varies, with the error
// of its own estimate.
TEST(Contrast, OfRootMeanSquaresIsTheirDifference) {
  const ContrastRow row = contrast_of_values("output_sd", {1, 7}, {10, 10}, nullptr);
  EXPECT_DOUBLE_EQ(*row.estimate, 5);
  EXPECT_DOUBLE_EQ(*row.std_error, std::sqrt(48.0 * 48 / 2 / 2) / (2 * 5));
}

TEST(Contrast, HasNoErrorBarWhereTheLawHasTooFewMoments) {
  LawRow heavy = *find_law("normal");
  heavy.moments_below = [](std::span<const double>) { return 2.0; };
  const Law law{&heavy, {}, 0, 1};
  const ContrastRow row = contrast_of_values("margin", {10, 50, -40}, {11, 52, -37}, &law);
  EXPECT_DOUBLE_EQ(*row.estimate, 2);
  EXPECT_FALSE(row.std_error || row.ci_low || row.ci_high);
  EXPECT_TRUE(contrast_of_values("top_weight", {0.2, 0.5}, {0.3, 0.7}, &law).std_error);
}

// 2 of 5 queries saturate under the one scaling only, none under the other only.
TEST(Contrast, OfFractionsHasAnIntervalThatIsNeverEmpty) {
  const ContrastRow some = contrast_of_values("saturated", {0, 0, 0, 0, 1}, {1, 1, 0, 0, 1});
  const Interval interval = paired_fraction_interval(0.4, 0.4, 5);
  EXPECT_DOUBLE_EQ(*some.estimate, 0.4);
  EXPECT_NEAR(*some.ci_low, interval.low, 1e-14);
  EXPECT_NEAR(*some.ci_high, interval.high, 1e-14);
  const ContrastRow none = contrast_of_values("saturated", {0, 0, 1}, {0, 0, 1});
  EXPECT_EQ(none.estimate, 0);
  EXPECT_FALSE(none.std_error);
  EXPECT_LT(*none.ci_low, 0);
  EXPECT_GT(*none.ci_high, 0);
}

// Logits of div_sqrt_d are a quarter of the scores at d = 16: the difference of the spreads is
// -3/4 of the score's, and so is its error; the joint delta method must find that although either
// spread alone errs.
TEST(Contrast, OfSpreadsUsesThatLogitsShareTheirScores) {
  Experiment experiment = drawn_experiment("direct", 16, 8, 300);
  experiment.metrics = metric_rows({"logit_mean", "logit_sd", "logit_kurtosis"});
  const auto rows = contrasts_of(experiment);
  const auto summary = run_config(config_of(experiment));
  for (std::size_t i = 0; i < 2; ++i) {
    const ResultRow& score = row_of(summary, "none", rows[i].metric);
    EXPECT_NEAR(*rows[i].estimate, -0.75 * *score.estimate, 1e-12);
    EXPECT_NEAR(*rows[i].std_error, 0.75 * *score.std_error, 1e-9 * *score.std_error);
    EXPECT_NEAR(*rows[i].ci_high - *rows[i].ci_low, 2 * student_reach(300) * *rows[i].std_error,
                1e-9);
  }
}

// The kurtosis does not change with a constant factor; what rounding leaves is no error.
TEST(Contrast, OfKurtosesOfLinearScalingsIsNothing) {
  Experiment experiment = drawn_experiment("direct", 7, 8, 300);
  experiment.metrics = metric_rows({"logit_kurtosis"});
  for (const ContrastRow& row : contrasts_of(experiment)) {
    EXPECT_NEAR(*row.estimate, 0, 1e-12);
    EXPECT_FALSE(row.std_error || row.ci_low || row.ci_high);
  }
}

}  // namespace
}  // namespace attnscale
