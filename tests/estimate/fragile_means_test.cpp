#include "estimate/fragile_means.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "estimate/estimate.h"
#include "support/drawn_cell.h"
#include "support/scalings.h"

namespace attnscale {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

QuantileSketch sketch_of(int ones, int zeros) {
  QuantileSketch sketch;
  for (int i = 0; i < ones; ++i) sketch.add(1);
  for (int i = 0; i < zeros; ++i) sketch.add(0.0);
  return sketch;
}

double sd_of_share(double f) {
  return std::sqrt(f * (1 - f));
}

// A share f of ones has the skewness (1 - 2f) / sqrt(f (1 - f)). A bin stands for its middle, here
// 1 + 1/128.
TEST(CarryingQueries, AreThoseThatHaveANumber) {
  const double f = 0.01;
  const double exact = 1000 * f * (1 - f) / ((1 - 2 * f) * (1 - 2 * f));
  EXPECT_NEAR(exact, 10, 0.5);
  EXPECT_NEAR(carrying_queries(sketch_of(10, 990), sd_of_share(f)), exact, 1e-9);
  EXPECT_NEAR(carrying_queries(sketch_of(990, 10), sd_of_share(f)), exact, 1e-9);
  EXPECT_GT(carrying_queries(sketch_of(500, 500), sd_of_share(0.5)), 1e9);
}

TEST(CarryingQueries, AreNotJudgedByBinsWiderThanTheValuesSpread) {
  QuantileSketch sketch;
  for (int i = 0; i < 1000; ++i) sketch.add(i < 10 ? 1 + 1e-9 : 1 - 1e-9);
  EXPECT_TRUE(std::isinf(carrying_queries(sketch, 2e-9 * sd_of_share(0.01))));
}

std::vector<std::string> warnings_of(std::int64_t d, std::int64_t queries) {
  Experiment experiment = drawn_experiment("direct", d, 8, queries);
  experiment.metrics = metric_rows({"logit_sd", "slope", "saturated", "margin"});
  const Plan plan = plan_of(experiment);
  const Cell& cell = plan.cells.front();
  const CellTally tally = measure_cell(plan, cell);
  ExactValues exact(ReferenceMode::kOff);
  FragileMeans fragile;
  fragile.add(estimate_cell(plan, cell, tally, exact), tally.counts);
  return fragile.warnings();
}

// At d = 65,536 the two largest of 8 scores come within reach of each other in a few of 1,000
// queries, and 92 % of the intervals hold the exact mean (coverage_test.cpp).
TEST(FragileMeans, AreWarnedOf) {
  EXPECT_THAT(warnings_of(65536, 1000),
              ElementsAre(AllOf(HasSubstr("drawn: a handful of queries carry one mean of slope"),
                                HasSubstr("of 1000 at normal, d = 65536, keys 8, scaling none"))));
}

// The entropy of queries whose top logit is near a sink of 3, where most are far above, and the
// kurtosis of so few scores of d = 4: by theory, whatever the sample holds.
TEST(FragileMeans, OfTheoryHaveNoIntervals) {
  Experiment experiment = drawn_experiment("direct", 64, 64, 1000);
  const auto sink = [](double bias) {
    return logit_scaling("sink", "q.k", {.normaliser = {NormaliserKind::kSink, bias}});
  };
  experiment.scalings = {preset("none"), sink(3)};
  experiment.metrics = metric_rows({"entropy", "sink_weight"});
  const Plan plan = plan_of(experiment);
  const CellTally tally = measure_cell(plan, plan.cells[0]);
  ExactValues exact(ReferenceMode::kAuto);
  const auto rows = estimate_cell(plan, plan.cells[0], tally, exact);
  const auto contrasts = contrast_cell(plan, plan.cells[0], tally, exact);
  EXPECT_EQ(row_of(rows, "none", "entropy").status, LineStatus::kOk);
  EXPECT_EQ(row_of(rows, "sink", "entropy").status, LineStatus::kOk);
  const ResultRow& rare = row_of(rows, "sink", "sink_weight");
  EXPECT_EQ(rare.status, LineStatus::kRare);
  EXPECT_TRUE(rare.estimate && rare.std_error && rare.z);
  EXPECT_FALSE(rare.ci_low || rare.ci_high);
  for (const ContrastRow& row : contrasts) {
    EXPECT_TRUE(row.std_error) << row.metric;
    EXPECT_FALSE(row.ci_low || row.ci_high) << row.metric;
  }
  FragileMeans fragile;
  fragile.add(rows, tally.counts);
  fragile.add(contrasts);
  EXPECT_THAT(
      fragile.warnings(),
      testing::IsSupersetOf(
          {testing::StartsWith("drawn: a handful of queries carry one line of sink_weight by "
                               "theory (about 18 of 1000 at normal, d = 64, keys 64, scaling "
                               "sink): it has no interval"),
           testing::StartsWith("drawn: a handful of queries carry one contrast of entropy, the "
                               "first at normal, d = 64, keys 64, scaling sink: it has no "
                               "interval")}));
}

// 8000 scores of d = 4 have n / G^2 of 1.6 for their kurtosis, 80,000 have 16.
TEST(FragileMeans, KurtosesTakeTheQueriesThatTheoryAsksFor) {
  for (const std::int64_t queries : {kFewestJudged - 1, kFewestJudged, 9000L, 10'000L}) {
    Experiment experiment = drawn_experiment("direct", 4, 8, queries);
    experiment.metrics = metric_rows({"logit_kurtosis", "logit_sd"});
    const bool is_rare = queries >= kFewestJudged && queries < 10'000;
    const auto rows = run_config(config_of(experiment));
    EXPECT_EQ(row_of(rows, "none", "logit_kurtosis").status,
              is_rare ? LineStatus::kRare : LineStatus::kOk)
        << queries;
    EXPECT_EQ(row_of(rows, "none", "logit_kurtosis").ci_low.has_value(), !is_rare) << queries;
  }
}

TEST(FragileMeans, AreNoneInTheLessonsExercise) {
  for (const std::int64_t d : {4, 16, 64, 256, 1024}) EXPECT_THAT(warnings_of(d, 10000), IsEmpty());
}

TEST(FragileMeans, AreNotLookedForInAHandfulOfQueries) {
  EXPECT_THAT(warnings_of(65536, kFewestJudged - 1), IsEmpty());
}

}  // namespace
}  // namespace attnscale
