#include "estimate/fragile_means.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/drawn_cell.h"

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

TEST(FragileMeans, AreNoneInTheLessonsExercise) {
  for (const std::int64_t d : {4, 16, 64, 256, 1024}) EXPECT_THAT(warnings_of(d, 10000), IsEmpty());
}

TEST(FragileMeans, AreNotLookedForInAHandfulOfQueries) {
  EXPECT_THAT(warnings_of(65536, kFewestJudged - 1), IsEmpty());
}

}  // namespace
}  // namespace attnscale
