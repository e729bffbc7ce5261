#include "estimate/tally.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/drawn_cell.h"

namespace attnscale {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Two scalings, metrics top_weight (with complements) and margin (without), two logit powers.
Experiment small_experiment() {
  Experiment experiment = drawn_experiment("direct", 4, 8, 4);
  experiment.scalings.pop_back();
  experiment.metrics = metric_rows({"top_weight", "logit_sd", "margin"});
  return experiment;
}

BlockValues small_values() {
  BlockValues values;
  values.queries = 4;
  values.metrics = {{{0.5, 0.75, 0.5, 1}, {3, 1, 2, 6}}, {{0.25, 0.5, 0.5, 0.5}, {1, 1, 1, 1}}};
  values.complements = {{{0.5, 0.25, 0.5, 1e-18}, {}}, {{0.75, 0.5, 0.5, 0.5}, {}}};
  values.logit_powers = {{{1, 2, 3, 6}, {1, 4, 9, 36}}, {{2, 0, 1, 5}, {4, 0, 1, 25}}};
  values.histograms = {{1, 0, 3}, {}, {0, 4, 0}, {2}};
  return values;
}

TEST(CellMoments, StandWhereTheExperimentSaysTheyDo) {
  const Experiment experiment = small_experiment();
  const CellMoments moments = moments_of(small_values());
  ASSERT_EQ(moments.size(), 9U);
  EXPECT_EQ(group_of(experiment, 0, *find_metric("logit_sd")), 0U);
  EXPECT_EQ(group_of(experiment, 0, *find_metric("margin")), 2U);
  EXPECT_EQ(group_of(experiment, 1, *find_metric("logit_sd")), 3U);
  EXPECT_EQ(group_of(experiment, 1, *find_metric("top_weight")), 4U);

  const Moments& powers = moments[group_of(experiment, 0, *find_metric("logit_sd"))];
  EXPECT_EQ(powers.count, 4);
  EXPECT_EQ(powers.dimension(), 2U);
  EXPECT_DOUBLE_EQ(powers.mean[0], 3);
  EXPECT_DOUBLE_EQ(powers.mean[1], 12.5);
  EXPECT_DOUBLE_EQ(powers.central_sum(0, 0), 14);
  const Moments& margin = moments[group_of(experiment, 0, *find_metric("margin"))];
  EXPECT_DOUBLE_EQ(margin.mean[0], 3);
  EXPECT_DOUBLE_EQ(margin.central_sum(0, 0), 14);
}

TEST(CellMoments, AlsoHoldWhatContrastsNeed) {
  const Experiment experiment = small_experiment();
  const CellMoments moments = moments_of(small_values());
  const Moments& powers = moments[contrast_group_of(experiment, 1, *find_metric("logit_sd"))];
  ASSERT_EQ(powers.dimension(), 4U);  // the first scaling's two, then its own
  EXPECT_DOUBLE_EQ(powers.mean[0], 3);
  EXPECT_DOUBLE_EQ(powers.mean[2], 2);
  EXPECT_DOUBLE_EQ(powers.central_sum(0, 2), 11);  // (-2)(0) + (-1)(-2) + (0)(-1) + (3)(3)
  const Moments& weight = moments[contrast_group_of(experiment, 1, *find_metric("top_weight"))];
  ASSERT_EQ(weight.dimension(), 1U);  // the difference to the first scaling
  EXPECT_DOUBLE_EQ(weight.mean[0], 0.4375 - 0.6875);
}

TEST(CellMoments, OfARootMeanSquareAreThoseOfSquaresToo) {
  BlockValues values = small_values();
  values.root_mean_squares = {false, true};
  const CellMoments moments = moments_of(values);
  EXPECT_EQ(moments[2].mean, (std::vector<double>{3, 12.5}));
  EXPECT_EQ(moments[5].mean, (std::vector<double>{1, 1}));
  EXPECT_EQ(moments[8].mean, (std::vector<double>{3, 12.5, 1, 1}));
}

// The second query overflowed under the first scaling, the third under the second.
TEST(CellMoments, LeaveOutQueriesThatAreNotFiniteAndCountThem) {
  BlockValues values = small_values();
  for (auto& column : values.metrics[0]) column[1] = kNan;
  for (auto& column : values.logit_powers[0]) column[1] = kNan;
  for (auto& column : values.metrics[1]) column[2] = kNan;
  for (auto& column : values.logit_powers[1]) column[2] = kNan;
  const CellMoments moments = moments_of(values);
  const auto has = [&](std::size_t group, std::int64_t count, double mean) {
    EXPECT_EQ(moments[group].count, count) << group;
    EXPECT_EQ(moments[group].left_out, 4 - count) << group;
    EXPECT_DOUBLE_EQ(moments[group].mean[0], mean) << group;
  };
  has(0, 3, 10.0 / 3);  // logits 1, 3, 6
  has(2, 3, 11.0 / 3);  // margins 3, 2, 6
  has(3, 3, 7.0 / 3);   // logits 2, 0, 5
  has(6, 2, 3.5);       // both: the first scaling's logits 1, 6
  has(8, 2, -3.5);      // both: margins 1 - 3, 1 - 6
  const CellMoments twice = merge(moments, moments_of(small_values()));
  EXPECT_EQ(twice[6].count, 6);
  EXPECT_EQ(twice[6].left_out, 2);
}

TEST(CellMoments, OfNoQueryAreThoseOfTheOthersAfterAMerge) {
  BlockValues values = small_values();
  for (auto& column : values.logit_powers[0]) column.assign(4, kNan);
  const CellMoments none = moments_of(values);
  EXPECT_EQ(none[0].count, 0);
  EXPECT_TRUE(std::isnan(none[0].mean[0]));
  const CellMoments some = moments_of(small_values());
  for (const CellMoments& merged : {merge(none, some), merge(some, none)}) {
    EXPECT_EQ(merged[0].left_out, 4);
    EXPECT_EQ(merged[0].mean, some[0].mean);
    EXPECT_EQ(merged[0].central, some[0].central);
  }
}

TEST(CellMoments, OfAnExperimentWithoutLogitsHoldMetricsAlone) {
  Experiment experiment = small_experiment();
  experiment.metrics = metric_rows({"slope", "margin"});
  BlockValues values = small_values();
  for (auto& powers : values.logit_powers) powers.clear();
  EXPECT_EQ(moments_of(values).size(), 6U);
  EXPECT_EQ(group_of(experiment, 0, *find_metric("slope")), 0U);
  EXPECT_EQ(group_of(experiment, 1, *find_metric("margin")), 3U);
}

TEST(CellMoments, MergeGroupByGroup) {
  const CellMoments once = moments_of(small_values());
  const CellMoments twice = merge(once, once);
  ASSERT_EQ(twice.size(), once.size());
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(twice[i].count, 8);
    EXPECT_DOUBLE_EQ(twice[i].mean[0], once[i].mean[0]);
    EXPECT_DOUBLE_EQ(twice[i].central_sum(0, 0), 2 * once[i].central_sum(0, 0));
  }
}

TEST(CellCounts, HoldExtremesQuantilesAndHistograms) {
  CellCounts counts;
  counts.add(small_values());
  ASSERT_EQ(counts.metrics.size(), 4U);
  EXPECT_EQ(counts.metrics[0].min, 0.5);
  EXPECT_EQ(counts.metrics[0].max, 1);
  EXPECT_EQ(counts.metrics[0].sketch.count(), 4);
  EXPECT_EQ(counts.metrics[0].sketch.quantile(1), 1);  // binned by the complement 1e-18
  EXPECT_EQ(counts.metrics[1].min, 1);
  EXPECT_EQ(counts.metrics[1].max, 6);
  EXPECT_NEAR(*counts.metrics[1].sketch.quantile(0.75), 3, 3.0 / 128);
  EXPECT_EQ(counts.histograms, small_values().histograms);
}

TEST(CellCounts, AreTheSameInAnyOrder) {
  BlockValues other = small_values();
  other.metrics[0] = {{0.9, 0.1, 0.2, 0.3}, {-5, 0, 1e9, 2}};
  other.histograms = {{5, 5, 5}, {}, {1, 1, 1}, {0}};
  CellCounts a;
  a.add(small_values());
  CellCounts b;
  b.add(other);
  CellCounts together;
  together.add(other);
  together.add(small_values());
  CellCounts forwards = a;
  forwards.merge(b);
  CellCounts backwards = CellCounts{};
  backwards.merge(b);
  backwards.merge(a);
  EXPECT_EQ(forwards, backwards);
  EXPECT_EQ(forwards, together);
  EXPECT_EQ(forwards.metrics[1].min, -5);
  EXPECT_EQ(forwards.histograms[0], (std::vector<std::int64_t>{6, 5, 8}));
}

TEST(CellCounts, TellNoZeroFromAnother) {
  for (const std::vector<double>& zeros : {std::vector<double>{0.0, -0.0}, {-0.0, 0.0}, {-0.0}}) {
    BlockValues values;
    values.queries = static_cast<std::int64_t>(zeros.size());
    values.metrics = {{zeros}};
    values.complements = {{{}}};
    CellCounts counts;
    counts.add(values);
    EXPECT_FALSE(std::signbit(counts.metrics[0].min));
    EXPECT_FALSE(std::signbit(counts.metrics[0].max));
  }
}

TEST(CellCounts, LeaveOutWhatIsNoNumber) {
  BlockValues values = small_values();
  values.metrics[0] = {{0.5, kNan, 0.5, 1}, {3, kNan, 2, 6}};
  values.complements[0][0] = {0.5, kNan, 0.5, 1e-18};
  CellCounts counts;
  counts.add(values);
  for (const std::size_t metric : {0U, 1U}) EXPECT_EQ(counts.metrics[metric].sketch.count(), 3);
  EXPECT_EQ(counts.metrics[0].sketch.quantile(1), 1);
  EXPECT_EQ(counts.metrics[1].min, 2);
  EXPECT_EQ(counts.metrics[1].max, 6);
  EXPECT_EQ(counts.metrics[2].sketch.count(), 4) << "other scalings stay";
  values.metrics[0][1].assign(4, kNan);
  CellCounts nothing;
  nothing.add(values);
  EXPECT_EQ(nothing.metrics[1], MetricCounts{});
}

}  // namespace
}  // namespace attnscale
