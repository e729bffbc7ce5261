// When a cell stops: only at fixed looks, only where the interval is narrow enough, at the same
// query whoever measures, and with intervals that still cover.
#include "estimate/stop_rule.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "estimate/interval.h"
#include "execution/executor.h"
#include "support/drawn_cell.h"
#include "support/small_plan.h"

namespace attnscale {
namespace {

PrecisionTarget relative_target(double error, std::string_view metric = "top_weight") {
  PrecisionTarget target;
  target.metric = find_metric(metric);
  target.relative_error = error;
  target.min_queries = 2;
  return target;
}

Cell cell_of(std::int64_t queries, std::int64_t block_queries) {
  Cell cell;
  cell.queries = queries;
  cell.block_queries = block_queries;
  cell.blocks = (queries + block_queries - 1) / block_queries;
  return cell;
}

TEST(StopRule, LooksAfterPowersOfTwoBlocksAndAfterTheLast) {
  const Cell cell = cell_of(100 * 8 - 3, 8);
  const PrecisionTarget target = relative_target(0.1);
  const std::vector<std::int64_t> looks{1, 2, 4, 8, 16, 32, 64, 100};
  std::int64_t look = 0;
  for (const std::int64_t expected : looks) {
    look = look_from(cell, target, look + 1);
    EXPECT_EQ(look, expected);
    EXPECT_EQ(look_from(cell, target, look), look);
  }
}

TEST(StopRule, NeverLooksBeforeTheLeastQueries) {
  PrecisionTarget target = relative_target(0.1);
  target.min_queries = 25;  // in the fourth block of 8
  EXPECT_EQ(look_from(cell_of(800, 8), target, 0), 4);
  target.min_queries = 32;  // all of four blocks
  EXPECT_EQ(look_from(cell_of(800, 8), target, 0), 4);
  target.min_queries = 33;
  EXPECT_EQ(look_from(cell_of(800, 8), target, 0), 8);
  EXPECT_EQ(look_from(cell_of(48, 8), target, 0), 6);
  EXPECT_TRUE(can_end_with(cell_of(800, 8), target, 64));
  EXPECT_TRUE(can_end_with(cell_of(799, 8), target, 799));
  for (const int queries : {0, 8, 32, 63, 65, 72, 400}) {
    EXPECT_FALSE(can_end_with(cell_of(800, 8), target, queries)) << queries;
  }
}

// An experiment that measures top_weight under two scalings, and moments of these values.
struct TwoScalings {
  Experiment experiment;
  CellMoments moments;
};
TwoScalings measured(const std::vector<double>& none, const std::vector<double>& div_sqrt_d) {
  Experiment experiment = drawn_experiment("direct", 4, 8, 1000);
  experiment.scalings.resize(2);
  experiment.metrics = metric_rows({"top_weight"});
  BlockValues block;
  block.queries = std::ssize(none);
  block.metrics = {{none}, {div_sqrt_d}};
  block.logit_powers = {{}, {}};
  return {experiment, moments_of(block)};
}

bool meets(TwoScalings measured, const PrecisionTarget& target) {
  measured.experiment.stop = target;
  return meets_target(measured.experiment, plan_of(measured.experiment).cells.front(),
                      measured.moments);
}

// Five values of mean 0.5 and variance 0.025 / 4: the half-width is the tabulated Student quantile
// of 4 degrees of freedom times sqrt(0.00125).
const std::vector<double> kFive{0.4, 0.45, 0.5, 0.55, 0.6};
const double kHalfWidth95 = 2.7764451 * std::sqrt(0.00125);
const double kHalfWidth99 = 4.6040949 * std::sqrt(0.00125);

TEST(StopRule, TheErrorIsHalfTheWidthOfTheInterval) {
  const TwoScalings both = measured(kFive, kFive);
  EXPECT_TRUE(meets(both, relative_target(kHalfWidth95 / 0.5 * 1.0001)));
  EXPECT_FALSE(meets(both, relative_target(kHalfWidth95 / 0.5 * 0.9999)));
  PrecisionTarget absolute = relative_target(0);
  absolute.relative_error.reset();
  absolute.confidence = 0.99;
  absolute.absolute_error = kHalfWidth99 * 1.0001;
  EXPECT_TRUE(meets(both, absolute));
  absolute.absolute_error = kHalfWidth99 * 0.9999;
  EXPECT_FALSE(meets(both, absolute));
}

TEST(StopRule, EveryScalingMustBePreciseUnlessOneIsNamed) {
  const TwoScalings second_is_wide = measured(kFive, {0.1, 0.3, 0.5, 0.7, 0.9});
  PrecisionTarget target = relative_target(kHalfWidth95 / 0.5 * 1.0001);
  EXPECT_FALSE(meets(second_is_wide, target));
  target.scaling = "none";
  EXPECT_TRUE(meets(second_is_wide, target));
  target.scaling = "div_sqrt_d";
  EXPECT_FALSE(meets(second_is_wide, target));
}

// No event in 1,000 queries: Clopper and Pearson's interval ends at 1 - 0.025^(1/1000) = 0.00368.
TEST(StopRule, AFractionOfNoneHasAnIntervalToo) {
  TwoScalings both = measured(std::vector<double>(1000), std::vector<double>(1000));
  both.experiment.metrics = metric_rows({"saturated"});
  PrecisionTarget target = relative_target(0);
  target.metric = find_metric("saturated");
  target.relative_error.reset();
  target.absolute_error = 0.0019;
  EXPECT_TRUE(meets(both, target));
  target.absolute_error = 0.0018;
  EXPECT_FALSE(meets(both, target));
}

TEST(StopRule, WhatDoesNotVaryHasNotConverged) {
  EXPECT_FALSE(meets(measured({1, 1, 1, 1}, {1, 1, 1, 1}), relative_target(0.5)));
  const double nan = std::nan("");
  EXPECT_FALSE(meets(measured({nan, 1, 1}, {nan, 1, 1}), relative_target(0.5)));
}

Plan stopping_plan(std::int64_t queries, double error) {
  Config config = small_config(queries);
  config.experiments[0].stop = relative_target(error);
  return make_plan(config);
}

TEST(StopRule, AnyNumberOfThreadsStopsAtTheSameQueryAndMeasuresNoneBeyond) {
  const Plan plan = stopping_plan(100'003, 0.02);
  Ledger one(plan);
  ASSERT_TRUE(ThreadExecutor().measure(plan, one, {}));
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    EXPECT_LT(one.queries_done(i), 100'003);
    EXPECT_TRUE(can_end_with(plan.cells[i], *plan.config.experiments[0].stop, one.queries_done(i)));
    EXPECT_TRUE(meets_target(plan.config.experiments[0], plan.cells[i], one.tallies()[i].moments));
    EXPECT_EQ(one.tallies()[i].counts.metrics.at(0).sketch.count(), one.queries_done(i));
  }
  for (const int threads : {2, 5}) {
    Ledger many(plan);
    std::atomic<std::int64_t> measured = 0;
    std::atomic<int> cells_done = 0;
    ExecutorOptions options;
    options.threads = threads;
    options.progress = [&](std::size_t, std::int64_t queries) { measured += queries; };
    options.cell_done = [&](std::size_t) { ++cells_done; };
    ASSERT_TRUE(ThreadExecutor().measure(plan, many, options));
    EXPECT_EQ(measured, one.queries_done());
    EXPECT_EQ(cells_done, 2);
    for (std::size_t i = 0; i < plan.cells.size(); ++i) EXPECT_EQ(many.cell(i), one.cell(i));
  }
}

TEST(StopRule, AResumedRunStopsWhereTheWholeOneDoes) {
  const Plan plan = stopping_plan(100'003, 0.02);
  Ledger whole(plan);
  ASSERT_TRUE(ThreadExecutor().measure(plan, whole, {}));
  for (const std::int64_t limit : {8, 40, 4000, 12'000}) {
    Ledger first(plan);
    std::atomic<std::int64_t> measured = 0;
    ExecutorOptions options;
    options.threads = 3;
    options.progress = [&](std::size_t, std::int64_t queries) { measured += queries; };
    options.stop = [&] { return measured >= limit; };
    ThreadExecutor().measure(plan, first, options);
    Ledger second(plan, {}, {first.cell(0), first.cell(1)});
    ASSERT_TRUE(ThreadExecutor().measure(plan, second, {}));
    for (std::size_t i = 0; i < plan.cells.size(); ++i) EXPECT_EQ(second.cell(i), whole.cell(i));
  }
}

TEST(StopRule, ACellWithATargetBelongsToOneShard) {
  const Plan plan = stopping_plan(100'003, 0.02);
  for (std::size_t cell = 0; cell < plan.cells.size(); ++cell) {
    std::int64_t owners = 0;
    for (std::int64_t index = 1; index <= 3; ++index) {
      const BlockRange share = share_of(plan, {index, 3}, cell);
      EXPECT_TRUE(share.size() == 0 || share.size() == plan.cells[cell].blocks);
      owners += share.size() > 0 ? 1 : 0;
    }
    EXPECT_EQ(owners, 1);
  }
}

// The share of runs, each with its own seed, whose 95 % interval of the mean top weight at 8 keys
// and d = 4 covers the exact value. The target is what 2048 queries give on average, so that the
// stop hangs on how wide the interval happens to be: where sequential stopping hurts most.
double coverage(int runs) {
  Experiment experiment = drawn_experiment("direct", 4, 8, 1 << 20);
  experiment.scalings = {*find_scaling("div_sqrt_d")};
  experiment.metrics = metric_rows({"top_weight"});
  constexpr double kExact = 0.343392931;  // reference/lesson: E[top weight] at d = 4, 8 keys
  constexpr double kSd = 0.1386;
  experiment.stop = relative_target(1.96 * kSd / std::sqrt(2048.0) / kExact);
  experiment.stop->min_queries = 1000;
  int covered = 0;
  for (int run = 0; run < runs; ++run) {
    const Config config = config_of(experiment, static_cast<std::uint64_t>(run));
    const Plan plan = make_plan(config);
    Ledger ledger(plan);
    ThreadExecutor().measure(plan, ledger, {});
    const Moments weight = ledger.tallies()[0].moments[0];
    const double half_width =
        student_reach(weight.count) *
        std::sqrt(weight.covariance(0, 0) / static_cast<double>(weight.count));
    if (std::abs(weight.mean[0] - kExact) <= half_width) ++covered;
  }
  return covered / static_cast<double>(runs);
}

// At a true coverage of 94.8 % this falls below 92 % for one set of 500 seeds in 400; these pass.
TEST(StopRule, IntervalsUnderATargetCover) {
  EXPECT_GE(coverage(500), 0.92);
}

// At a true coverage of 94.8 % this falls below 94 % for one set of 10,000 seeds in 6000.
TEST(StopRuleSlow, IntervalsUnderATargetCoverAtLeast94Percent) {
  const double share = coverage(10'000);
  RecordProperty("coverage", std::to_string(share));
  EXPECT_GE(share, 0.94);
}

}  // namespace
}  // namespace attnscale
