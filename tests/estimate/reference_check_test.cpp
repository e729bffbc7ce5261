// Which estimates the check of a run calls wrong. Expected quantiles are tabulated ones of the
// normal law, to which Student's goes with many queries.
#include "estimate/reference_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/drawn_cell.h"
#include "theory/exact_means_table.h"

namespace attnscale {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A mean of 10^9 queries, `errors` standard errors above its exact value.
ResultRow line(double errors, const std::string& metric = "top_weight") {
  ResultRow row;
  row.key.experiment = "softmax";
  row.key.d = 4;
  row.key.keys = 8;
  row.key.scaling = "none";
  row.metric = metric;
  row.queries = 1'000'000'000;
  row.sd = 0.3;
  row.std_error = 0.01;
  row.reference = 0.5;
  row.estimate = 0.5 + errors * 0.01;
  row.status = LineStatus::kOk;
  return row;
}

// The two-sided normal quantile of 1/1000 is 3.2905, of 1/100,000 it is 4.4172.
TEST(ReferenceCheck, TheBoundGrowsWithTheNumberOfLines) {
  EXPECT_EQ(check_estimates({}, {line(3.28)}).beyond, 0);
  EXPECT_EQ(check_estimates({}, {line(-3.30)}).beyond, 1);
  std::vector<ResultRow> hundred(99, line(0));
  hundred.push_back(line(4.40));
  EXPECT_EQ(check_estimates({}, hundred).beyond, 0);
  hundred.back() = line(4.43);
  const ReferenceCheck check = check_estimates({}, hundred);
  EXPECT_EQ(check.beyond, 1);
  EXPECT_EQ(check.lines, 100);
  ASSERT_EQ(check.worst.size(), 5U);
  EXPECT_NEAR(check.worst.front().bound, 4.4172, 0.001);
}

TEST(ReferenceCheck, SaysWhichNumbersOfASweepALineIsAbout) {
  ResultRow row = line(0);
  row.key.entries = "student_t";
  row.key.entries_value = 2.5;
  row.key.scaling = "power";
  row.key.scaling_value = -0.125;
  EXPECT_EQ(describe_line(row),
            "top_weight of softmax at d=4 keys=8 (student_t 2.5) under power -0.125");
}

TEST(ReferenceCheck, TheReferencesOwnErrorIsNotHeldAgainstTheEstimate) {
  ResultRow row = line(0);
  row.std_error = 1e-3 * kExactError;
  row.estimate = 0.5 + 0.9 * kExactError;
  EXPECT_EQ(check_estimates({}, {row}).beyond, 0);
  row.estimate = 0.5 + 1.1 * kExactError;
  EXPECT_EQ(check_estimates({}, {row}).beyond, 1);
}

TEST(ReferenceCheck, LinesThatAHandfulOfQueriesCarryDecideNothing) {
  ResultRow rare = line(50, "slope");
  rare.queries = 10'000;
  rare.reference = 0.001;
  rare.sd = 0.01;  // carried by 10,000 / (1 + 10^2) = 99 queries
  rare.estimate = 0.001 + 50 * *rare.std_error;
  EXPECT_NEAR(supporting_queries(rare, 3), 10'000 / 101.0, 1e-9);
  const ReferenceCheck check = check_estimates({}, {rare});
  EXPECT_EQ(check.undecided, 1);
  EXPECT_EQ(check.beyond, 0);
  rare.queries = 10'000'000;
  EXPECT_EQ(check_estimates({}, {rare}).beyond, 1);
}

// A run that saw none of the rare queries that carry a mean: its sd is that of all the others.
TEST(ReferenceCheck, QueriesThatTheoryExpectsAndNoneSawDecideNothing) {
  ResultRow row = line(0, "slope");
  row.queries = 1000;
  row.reference = 2.2e-5;
  row.estimate = 3.7e-13;
  row.sd = 1e-11;
  row.std_error = 3e-13;
  EXPECT_EQ(check_estimates({}, {row}).beyond, 1) << "a constant of another size is wrong";
  row.carrying = 0.09;
  const ReferenceCheck check = check_estimates({}, {row});
  EXPECT_EQ(check.beyond, 0);
  EXPECT_EQ(check.undecided, 1);
}

// Noise takes 2.33 standard errors or more off a bias in one run of a hundred.
TEST(ReferenceCheck, ABiasOfEightStandardErrorsIsFoundAmongAThousandLines) {
  std::vector<ResultRow> rows(1000, line(0));
  for (ResultRow& row : rows) {
    row.queries = 10'000;
    row.sd = 0.4;  // carried by 0.61 of the queries
  }
  rows.front().estimate = 0.5 + (8 - 2.33) * 0.01;
  EXPECT_EQ(check_estimates({}, rows).beyond, 1);
}

TEST(ReferenceCheck, KurtosisDecidesFromTheStatedQueriesOn) {
  ResultRow row = line(20, "logit_kurtosis");
  row.sd.reset();
  row.reference = 3;
  row.std_error = 0.001;
  row.estimate = 3 + 20 * 0.001;
  row.queries = kLeastForKurtosis - 1;
  EXPECT_EQ(check_estimates({}, {row}).beyond, 0);
  row.queries = kLeastForKurtosis;
  EXPECT_EQ(check_estimates({}, {row}).beyond, 1);
}

// Of 10,000 scores of kurtosis 22,500 a run may have seen none, or one, of those that make the
// spread: its own error bar cannot know.
TEST(ReferenceCheck, ASpreadOfRareLargeScoresDecidesNothing) {
  ResultRow row = line(0, "logit_sd");
  row.sd.reset();
  row.queries = 10'000;
  row.reference = 2;
  row.std_error = 0.01;
  row.estimate = 0.5;
  EXPECT_DOUBLE_EQ(supporting_queries(row, 22'500), 80'000 / 22'500.0);
  EXPECT_GT(supporting_queries(row, 3), kLeastSupporting);
  row.std_error.reset();  // none of them was seen: all scores are 0
  EXPECT_LT(supporting_queries(row, 22'500), kLeastSupporting);
}

TEST(ReferenceCheck, AFractionOfNoneOrAllIsHeldAgainstTheExactOne) {
  ResultRow row = line(0, "saturated");
  row.queries = 10'000;
  row.reference = 0.3;
  row.estimate = 0;
  row.std_error.reset();
  EXPECT_EQ(check_estimates({}, {row}).beyond, 1);
  row.reference = 0.001;  // ten events in 10,000 queries: too few to decide
  EXPECT_EQ(check_estimates({}, {row}).undecided, 1);
}

TEST(ReferenceCheck, AConstantFarFromTheExactMeanIsWrong) {
  ResultRow row = line(0);
  row.queries = 10'000;
  row.sd = 0;
  row.std_error.reset();
  row.estimate = 1;
  row.status = LineStatus::kDegenerate;
  EXPECT_EQ(check_estimates({}, {row}).beyond, 1);
  row.reference = 1 - 1e-9;
  EXPECT_EQ(check_estimates({}, {row}).beyond, 0);
}

// The weight of no sink.
TEST(ReferenceCheck, WhatIsExactlyAsItMustBeDecides) {
  ResultRow row = line(0, "sink_weight");
  row.estimate = 0;
  row.reference = 0;
  row.sd = 0;
  row.std_error.reset();
  row.status = LineStatus::kDegenerate;
  const ReferenceCheck check = check_estimates({}, {row});
  EXPECT_EQ(check.undecided, 0);
  ASSERT_EQ(check.worst.size(), 1U);
  EXPECT_EQ(check.worst.front().distance, 0);
  row.estimate = 0.5;
  EXPECT_EQ(check_estimates({}, {row}).beyond, 1);
}

// A score_slope of 0 in every query beside a mean of -1.5: the queries that carry it were not seen.
// A top_weight of 1 in every query beside a mean of 0.5 is wrong.
TEST(ReferenceCheck, WhatDidNotVaryDecidesOnlyBetweenKnownEnds) {
  ResultRow row;
  row.key = {"test", 1, "drawn", "normal", {}, 4, 8, "none", {}};
  row.queries = 10000;
  row.status = LineStatus::kDegenerate;
  row.std_error = 0;
  row.sd = 0;
  row.metric = "score_slope";
  row.estimate = 0;
  row.reference = -1.5;
  EXPECT_EQ(check_estimates({}, {row}).beyond, 0);
  row.metric = "logit_sd";
  EXPECT_EQ(check_estimates({}, {row}).beyond, 0);
  row.metric = "top_weight";
  row.estimate = 1;
  row.reference = 0.5;
  EXPECT_EQ(check_estimates({}, {row}).beyond, 1);
}

// 34 +- 8 of 10,000 queries beside a kurtosis of 195 decides nothing, but is said.
TEST(ReferenceCheck, SaysWhichStatisticsOfLogitsRareScoresMisled) {
  ResultRow row;
  row.key = {"test", 1, "drawn", "normal", {}, 4, 8, "none", {}};
  row.metric = "logit_kurtosis";
  row.queries = 10000;
  row.estimate = 34;
  row.std_error = 8;
  row.reference = 195;
  const ReferenceCheck check = check_estimates({}, {row});
  EXPECT_EQ(check.beyond, 0);
  EXPECT_EQ(check.undecided, 1);
  EXPECT_EQ(check.misjudged, 1);
  EXPECT_NEAR(check.most_misjudged->distance, (195 - 34) / 8.0, 1e-3);
  row.estimate = 150;  // within six standard errors
  EXPECT_EQ(check_estimates({}, {row}).misjudged, 0);
}

// Scores of aligned keys whose law has infinite fourth moments: their mean exists, its error does
// not, and it is off by any number of anything.
TEST(ReferenceCheck, AMeanThatVariedWithoutAnErrorBarDecidesNothing) {
  ResultRow row = line(0, "logit_mean");
  row.sd.reset();
  row.std_error.reset();
  row.reference = -4e12;
  row.estimate = -1.8e12;
  const ReferenceCheck check = check_estimates({}, {row});
  EXPECT_EQ(check.beyond, 0);
  EXPECT_EQ(check.undecided, 1);
}

TEST(ReferenceCheck, ANamedScalingMustDoWhatItsNameSays) {
  Experiment experiment = drawn_experiment("direct", 64, 8, 1000);
  EXPECT_THAT(check_scaling_names(config_of(experiment)), IsEmpty());
  experiment.scalings[1].logit = find_scaling("div_d")->logit;
  EXPECT_THAT(check_scaling_names(config_of(experiment)),
              ElementsAre(HasSubstr("the scaling div_sqrt_d of drawn")));
}

// 300 seeds, each of 30 lines at 1000 queries, where error bars are at their least honest: at one
// alarm in 1000 runs three or more alarms have a probability below 0.004; these seeds give none.
TEST(ReferenceCheck, RightNumbersRaiseNoAlarm) {
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Experiment experiment = drawn_experiment("direct", 4, 2, 1000);
    experiment.d = {1, 4, 1024};
    experiment.metrics = metric_rows({"logit_sd", "top_weight", "slope", "entropy"});
    const Config config = config_of(experiment, seed);
    if (check_estimates(make_plan(config), run_config(config)).beyond > 0) ++alarms;
  }
  EXPECT_LE(alarms, 2);
}

// Unscaled logits of spread 32,768: a slope is above 1e-10 in about one query of 10,000.
TEST(ReferenceCheck, MeansOfRareQueriesRaiseNoAlarm) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Experiment experiment = drawn_experiment("direct", 64, 8, 1000);
    experiment.entries.front().queries.sd = 64;
    experiment.entries.front().keys.sd = 64;
    experiment.scalings.resize(1);
    experiment.metrics = metric_rows({"slope"});
    const Config config = config_of(experiment, seed);
    const ReferenceCheck check = check_estimates(make_plan(config), run_config(config));
    EXPECT_EQ(check.beyond, 0) << seed;
    EXPECT_EQ(check.undecided, 1) << seed;
  }
}

// Scores of 1 and -1: the first order of their spread's error is 0 where half of them are 1.
TEST(ReferenceCheck, SpreadsOfTwoEqualSizesRaiseNoAlarm) {
  const Law sign{find_law("rademacher"), {}, 0, 1};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Experiment experiment = drawn_experiment("vectors", 1, 1, 2000);
    experiment.keys = {1, 2, 4};
    experiment.entries = {{"rademacher", {}, sign, sign}};
    experiment.scalings.resize(1);
    experiment.metrics = metric_rows({"logit_sd"});
    const Config config = config_of(experiment, seed);
    const std::vector<ResultRow> rows = run_config(config);
    EXPECT_EQ(check_estimates(make_plan(config), rows).beyond, 0) << seed;
    for (const ResultRow& row : rows) {
      ASSERT_TRUE(row.ci_low && row.ci_high);
      EXPECT_GE(*row.std_error, *row.estimate / 4000);
      EXPECT_TRUE(*row.ci_low <= 1 && 1 <= *row.ci_high) << seed;
    }
  }
}

}  // namespace
}  // namespace attnscale
