// What the error bars are worth: repeated runs scatter as far as one run says they would.
#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "estimate/estimate.h"
#include "support/drawn_cell.h"
#include "support/scalings.h"

namespace attnscale {
namespace {

constexpr std::int64_t kRuns = 400;
constexpr std::int64_t kQueries = 200;
constexpr std::int64_t kKeys = 16;

struct Repeated {
  double mean = 0;
  double spread = 0;      ///< of the estimate over runs
  double mean_error = 0;  ///< mean of the standard errors
  double coverage = 0;    ///< share of intervals that hold the exact value
};

Repeated repeat(const std::string& metric, double exact) {
  Experiment experiment = drawn_experiment("direct", 4, kKeys, kQueries);
  experiment.scalings.resize(1);
  experiment.metrics = metric_rows({metric});
  std::vector<double> estimates;
  Repeated repeated;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const ResultRow row = run_config(config_of(experiment, seed)).front();
    estimates.push_back(*row.estimate);
    repeated.mean_error += *row.std_error / kRuns;
    repeated.coverage += *row.ci_low <= exact && exact <= *row.ci_high ? 1.0 / kRuns : 0;
  }
  const std::vector<std::span<const double>> columns{estimates};
  const Moments moments = moments_of(columns);
  repeated.mean = moments.mean[0];
  repeated.spread = std::sqrt(moments.covariance(0, 0));
  return repeated;
}

// A spread over 400 runs has a relative standard error of 1 / sqrt(800) = 3.5 %; five of them, 18
// %, leave a false alarm of 6e-7 for other seeds. An interval that should hold the exact value in
// 95 % of runs does so in 95 +- 1.1 %; five of these, 89.5 %, and the delta method's own bias is
// below one of them.
TEST(ErrorBars, OfTheSpreadTakeTheQueryAsTheUnit) {
  const Repeated sd = repeat("logit_sd", 2);
  EXPECT_NEAR(sd.mean_error / sd.spread, 1, 0.18);
  EXPECT_GT(sd.coverage, 0.895);
  EXPECT_NEAR(sd.mean, 2, 5 * sd.spread / std::sqrt(kRuns));

  // Theory, for |q|^2 chi-squared with d = 4: a query's mean square over d has the relative
  // variance (1 + 2/d)(1 + 2/keys) - 1, and the spread half of its relative error.
  const double exact_error = 2 * 0.5 * std::sqrt((1.5 * (1 + 2.0 / kKeys) - 1) / kQueries);
  EXPECT_NEAR(sd.spread / exact_error, 1, 0.18);

  // Scores taken as independent: sqrt((kurtosis - 1) / N) / 2 of N = queries x keys scores. It
  // claims 1.8 times the precision there is.
  const double naive_error =
      2 * 0.5 * std::sqrt((3 + 6.0 / 4 - 1) / static_cast<double>(kQueries * kKeys));
  EXPECT_LT(naive_error, 0.65 * sd.spread);
}

TEST(ErrorBars, OfTheMeanHoldTheExactValue) {
  const Repeated mean = repeat("logit_mean", 0);
  EXPECT_NEAR(mean.mean_error / mean.spread, 1, 0.18);
  EXPECT_GT(mean.coverage, 0.895);
  EXPECT_LT(mean.coverage, 0.995);
}

// Scores of spread 64 * 64 * 8 = 32,768: some queries overflow in float16.
TEST(ErrorBars, AreThereWhateverOverflowsBesideThem) {
  Experiment experiment = drawn_experiment("direct", 64, 4, 3000);
  experiment.entries[0].queries.sd = 64;
  experiment.entries[0].keys.sd = 64;
  experiment.scalings.resize(2);
  experiment.metrics = metric_rows({"logit_mean", "logit_sd", "logit_kurtosis", "top_weight"});
  const auto alone = run_config(config_of(experiment));
  // First, as the baseline whose powers every other scaling's are kept with.
  experiment.scalings.insert(experiment.scalings.begin(),
                             logit_scaling("half", "q.k", {.precision = Precision::kFloat16}));
  const auto beside = run_config(config_of(experiment));
  ASSERT_EQ(beside.size(), alone.size() + 4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(beside[i].status, LineStatus::kSomeNonfinite) << beside[i].metric;
    EXPECT_EQ(beside[i].queries + beside[i].left_out, 3000);
    EXPECT_GT(beside[i].left_out, 30);
    EXPECT_TRUE(beside[i].estimate) << beside[i].metric;
  }
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(beside[i + 4], alone[i]) << alone[i].key.scaling << " " << alone[i].metric;
  }
}

TEST(ErrorBars, AreAbsentWhereTheLawHasTooFewMoments) {
  LawRow heavy = *find_law("normal");
  heavy.moments_below = [](std::span<const double>) { return 5.0; };
  Experiment experiment = drawn_experiment("direct", 16, 8, 100);
  experiment.metrics = metric_rows({"logit_mean", "logit_sd", "logit_kurtosis", "top_weight"});
  const Plan plan = plan_of(experiment);
  Cell cell = plan.cells.front();
  const CellTally tally = measure_cell(plan, cell);
  cell.draw.entries.keys.row = &heavy;
  ExactValues exact(plan.config.reference);
  for (const ResultRow& row : estimate_cell(plan, cell, tally, exact)) {
    SCOPED_TRACE(row.metric);
    EXPECT_TRUE(row.estimate);
    // How far the spread's error is from normal rests on six.
    const bool is_rare = row.metric == "logit_sd";
    EXPECT_EQ(row.status, is_rare ? LineStatus::kRare : LineStatus::kOk);
    const bool known = row.metric != "logit_kurtosis";
    EXPECT_EQ(row.std_error.has_value(), known);
    EXPECT_EQ(row.ci_low.has_value(), known && !is_rare);
    EXPECT_EQ(row.ci_high.has_value(), known && !is_rare);
  }
}

// An error bar of a spread rests on four moments, that of a kurtosis on eight; Student's t has
// those below nu.
TEST(ErrorBars, AreThereFromJustAboveTheMomentsThatTheyRestOn) {
  Experiment experiment = drawn_experiment("direct", 16, 8, 100);
  experiment.metrics = metric_rows({"logit_sd", "logit_kurtosis"});
  const Plan plan = plan_of(experiment);
  Cell cell = plan.cells.front();
  const CellTally tally = measure_cell(plan, cell);
  for (const double nu : {4.0, 4.01, 8.0, 8.01}) {
    cell.draw.entries.keys = {find_law("student_t"), {nu}};
    ExactValues exact(plan.config.reference);
    const std::vector<ResultRow> rows = estimate_cell(plan, cell, tally, exact);
    EXPECT_EQ(rows[0].std_error.has_value(), nu > 4) << nu;
    EXPECT_EQ(rows[1].std_error.has_value(), nu > 8) << nu;
  }
}

}  // namespace
}  // namespace attnscale
