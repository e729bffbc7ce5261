// From moments to estimates: closed formulas and published tables. What the error bars are worth is
// in error_bars_test.cpp.
#include "estimate/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <tuple>

#include "estimate/interval.h"
#include "estimate/logit_statistics.h"
#include "support/drawn_cell.h"
#include "support/scalings.h"

namespace attnscale {
namespace {

// Moments of the mean powers 1 ... powers of queries whose logits are given.
Moments powers_of(const std::vector<std::vector<double>>& queries, int powers) {
  std::vector<std::vector<double>> columns(static_cast<std::size_t>(powers));
  for (const auto& logits : queries) {
    for (std::size_t k = 0; k < columns.size(); ++k) {
      double sum = 0;
      for (const double logit : logits) sum += std::pow(logit, static_cast<double>(k + 1));
      columns[k].push_back(sum / static_cast<double>(logits.size()));
    }
  }
  const std::vector<std::span<const double>> spans(columns.begin(), columns.end());
  return moments_of(spans);
}

// Of powers about `centre`.
Estimate estimate_of(std::string_view metric, const Moments& powers, double centre = 0) {
  return metric_estimate(*find_metric(metric), powers, {centre});
}

// A tally of one cell with one scaling and one metric of these values.
ResultRow row_of_values(const std::string& metric, const std::vector<double>& values,
                        const std::vector<double>& complements = {}) {
  Experiment experiment = drawn_experiment("direct", 4, 8, std::ssize(values));
  experiment.scalings.resize(1);
  experiment.metrics = metric_rows({metric});
  const Plan plan = plan_of(experiment);
  BlockValues block;
  block.queries = std::ssize(values);
  block.metrics = {{values}};
  block.complements = {{complements}};
  block.logit_powers = {{}};
  CellTally tally{moments_of(block), {}};
  tally.counts.add(block);
  ExactValues exact(plan.config.reference);
  return estimate_cell(plan, plan.cells.front(), tally, exact).front();
}

TEST(LogitSd, WithOneKeyIsTheUsualOneWithDivisorNMinusOne) {
  // {1, 2, 3, 6}: variance 14/3.
  EXPECT_DOUBLE_EQ(estimate_of("logit_sd", powers_of({{1}, {2}, {3}, {6}}, 2)).value,
                   std::sqrt(14.0 / 3));
  EXPECT_DOUBLE_EQ(estimate_of("logit_sd", powers_of({{-1}, {1}}, 2)).value, std::sqrt(2.0));
}

TEST(LogitSd, WithManyKeysAddsTheSpreadWithinAndBetweenQueries) {
  // Means 1 and 3, each with logits one to either side: mean square 6, mean 2, and the mean's own
  // variance 2 / 2 that its square overestimates by: 6 - 4 + 1.
  EXPECT_DOUBLE_EQ(estimate_of("logit_sd", powers_of({{0, 2}, {2, 4}}, 2)).value, std::sqrt(3.0));
}

TEST(LogitSd, StandardErrorIsTheDeltaMethodsOverQueries) {
  // Mean powers a1 = {1, -1, 0, 0} and a2 = {4, 4, 2, 6}, twice: a1 has mean 0, so that the
  // standard error is that of a2 over 2 sd: var a2 = 16 / 7 over 8 queries.
  std::vector<std::vector<double>> queries{{1 - std::sqrt(3.0), 1 + std::sqrt(3.0)},
                                           {-1 - std::sqrt(3.0), -1 + std::sqrt(3.0)},
                                           {-std::sqrt(2.0), std::sqrt(2.0)},
                                           {-std::sqrt(6.0), std::sqrt(6.0)}};
  for (std::size_t i = 0; i < 4; ++i) queries.push_back(queries[i]);
  const Moments powers = powers_of(queries, 2);
  const Estimate sd = estimate_of("logit_sd", powers);
  EXPECT_NEAR(sd.value, std::sqrt(4 + (4.0 / 7) / 8), 1e-14);
  EXPECT_NEAR(sd.std_error, std::sqrt(16.0 / 7 / 8) / (2 * sd.value), 1e-14);
}

TEST(LogitMean, HasTheStandardErrorOfAMeanOverQueries) {
  const Estimate mean =
      estimate_of("logit_mean", powers_of({{0, 2}, {2, 2}, {3, 3}, {6, 6}}, 2), 100);
  EXPECT_DOUBLE_EQ(mean.value, 103);
  EXPECT_DOUBLE_EQ(mean.std_error, std::sqrt(14.0 / 3 / 4));
}

// {1, -1, 2} 10^100: variance 7/3 10^200, whatever became of the fourth powers.
TEST(LogitMean, HasItWhereHigherPowersOverflow) {
  const Estimate mean = estimate_of("logit_mean", powers_of({{1e100}, {-1e100}, {2e100}}, 4));
  EXPECT_NEAR(mean.std_error, std::sqrt(7.0 / 9) * 1e100, 1e86);
}

TEST(LogitKurtosis, IsTheFourthCentralPowerOverTheSquaredVariance) {
  // {1, 2, 3, 6}: deviations -2 -1 0 3, m2 = 14 / 4, m4 = 98 / 4.
  const double expected = 98.0 / 4 / std::pow(14.0 / 4, 2);
  EXPECT_NEAR(estimate_of("logit_kurtosis", powers_of({{1}, {2}, {3}, {6}}, 4)).value, expected,
              1e-13);
  EXPECT_NEAR(estimate_of("logit_kurtosis", powers_of({{1, 2}, {3, 6}}, 4)).value, expected, 1e-13);
}

TEST(LogitKurtosis, GradientIsThatOfTheFormula) {
  // Each query moved a little in turn: the first-order change of the estimate over queries gives
  // the same standard error (the infinitesimal jackknife).
  const std::vector<std::vector<double>> queries{
      {0.3, -1}, {2, 0.7}, {-1.5, 0.1}, {0.4, 0.9}, {-0.2, -2.2}};
  const auto kurtosis_with_weights = [&](std::size_t heavier, double extra) {
    long double a[5] = {0, 0, 0, 0, 0};
    long double total = 0;
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const long double weight = 1 + (i == heavier ? extra : 0.0);
      total += weight;
      for (int k = 1; k <= 4; ++k) {
        for (const double logit : queries[i]) {
          a[k] += weight * std::pow(static_cast<long double>(logit), k) / 2;
        }
      }
    }
    for (long double& mean : a) mean /= total;
    const long double m2 = a[2] - a[1] * a[1];
    const long double m4 =
        a[4] - 4 * a[1] * a[3] + 6 * a[1] * a[1] * a[2] - 3 * a[1] * a[1] * a[1] * a[1];
    return m4 / (m2 * m2);
  };
  long double squares = 0;
  const long double step = 1e-5L;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const long double influence = (kurtosis_with_weights(i, static_cast<double>(step)) -
                                   kurtosis_with_weights(i, -static_cast<double>(step))) /
                                  (2 * step);
    squares += influence * influence;
  }
  // n / (n - 1): the covariances are the unbiased ones.
  const auto expected = static_cast<double>(std::sqrt(squares * 5 / 4));
  EXPECT_NEAR(estimate_of("logit_kurtosis", powers_of(queries, 4)).std_error, expected,
              1e-7 * expected);
}

// {1, 2, 3, 6}: variance 14/3.
TEST(MeanEstimate, IsAMeanWithItsStandardErrorOverQueries) {
  const Estimate mean = estimate_of("margin", powers_of({{1}, {2}, {3}, {6}}, 1));
  EXPECT_DOUBLE_EQ(mean.value, 3);
  EXPECT_DOUBLE_EQ(mean.std_error, std::sqrt(14.0 / 3 / 4));
}

TEST(MeanEstimate, OfOneQueryHasNoStandardError) {
  const Estimate mean = estimate_of("margin", powers_of({{5}}, 1));
  EXPECT_EQ(mean.value, 5);
  EXPECT_TRUE(std::isnan(mean.std_error));
}

// Of {1, 3, 5, 7}: squares 1, 9, 25, 49 of mean 21 and variance 448; by the delta method the error
// is that of the mean square over twice the root.
TEST(RootMeanSquare, IsTheRootOfTheMeanSquareWithItsError) {
  const Estimate root = estimate_of("output_sd", powers_of({{1}, {3}, {5}, {7}}, 2));
  EXPECT_DOUBLE_EQ(root.value, std::sqrt(21.0));
  EXPECT_DOUBLE_EQ(root.std_error, std::sqrt(448.0 / 4) / (2 * std::sqrt(21.0)));
  EXPECT_EQ(estimate_of("output_sd", powers_of({{3}, {3}}, 2)).std_error, 0);
}

// A kurtosis needs four moments and its error eight; Student's t has those below nu.
TEST(NoMoment, IsSaidOfAKurtosisThatTheLawDoesNotHave) {
  Experiment experiment = drawn_experiment("boost", 16, 8, 200);
  experiment.metrics = metric_rows({"logit_mean", "logit_sd", "logit_kurtosis", "max_logit"});
  experiment.scalings = {logit_scaling("plain", "q.k / 4"), logit_scaling("capped", "tanh(q.k)"),
                         logit_scaling("normed", "rms(q).rms(k)"), logit_scaling("zero", "0 q.k")};
  for (const auto& [nu, spread, kurtosis] :
       {std::tuple{2.5, LineStatus::kOk, LineStatus::kNoMoment},
        std::tuple{5.0, LineStatus::kRare, LineStatus::kOk}}) {
    Law& law = experiment.entries[0].queries;
    law = Law{find_law("student_t"), {nu}, 0, 1};
    experiment.entries[0].keys = law;
    const Plan plan = plan_of(experiment);
    const CellTally tally = measure_cell(plan, plan.cells[0]);
    ExactValues exact(ReferenceMode::kAuto);
    const auto rows = estimate_cell(plan, plan.cells[0], tally, exact);
    const ResultRow& plain = row_of(rows, "plain", "logit_kurtosis");
    EXPECT_EQ(plain.status, kurtosis);
    EXPECT_EQ(plain.estimate.has_value(), plain.status == LineStatus::kOk);
    EXPECT_EQ(plain.reference.has_value(), plain.estimate.has_value());
    EXPECT_FALSE(plain.std_error);
    EXPECT_EQ(row_of(rows, "plain", "logit_sd").status, spread);
    EXPECT_TRUE(row_of(rows, "plain", "logit_sd").estimate);
    EXPECT_EQ(row_of(rows, "plain", "max_logit").status, LineStatus::kOk);
    for (const char* bounded : {"capped", "normed"}) {
      EXPECT_TRUE(row_of(rows, bounded, "logit_kurtosis").std_error) << bounded;
    }
    EXPECT_EQ(row_of(rows, "zero", "logit_kurtosis").status, LineStatus::kDegenerate);
    for (const ContrastRow& row : contrast_cell(plan, plan.cells[0], tally, exact)) {
      EXPECT_EQ(row.estimate.has_value(),
                row.metric != "logit_kurtosis" || (nu == 5 && row.key.scaling != "zero"))
          << row.key.scaling << row.metric;
    }
  }
}

TEST(StudentReach, IsThePublishedQuantile) {
  EXPECT_NEAR(student_reach(2), 12.706, 5e-4);
  EXPECT_NEAR(student_reach(3), 4.303, 5e-4);
  EXPECT_NEAR(student_reach(11), 2.228, 5e-4);
  EXPECT_NEAR(student_reach(100), 1.984, 5e-4);
  EXPECT_NEAR(student_reach(1000000000), 1.959964, 1e-6);
}

// P(at least `counted` of n) where each counts with probability p.
double binomial_tail(int n, int counted, double p) {
  double tail = 0;
  for (int k = counted; k <= n; ++k) {
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                     k * std::log(p) + (n - k) * std::log1p(-p));
  }
  return tail;
}

// As many or more at the low end, and as few or fewer at the high end, have 2.5 % each.
TEST(FractionInterval, IsClopperAndPearsons) {
  for (const int n : {5, 1000}) {
    for (const int counted : {1, n / 5, n / 2, n - 1}) {
      const auto [low, high] = fraction_interval(static_cast<double>(counted) / n, n);
      EXPECT_NEAR(binomial_tail(n, counted, low), 0.025, 1e-10);
      EXPECT_NEAR(1 - binomial_tail(n, counted + 1, high), 0.025, 1e-10);
    }
  }
}

TEST(FractionInterval, IsNotEmptyAtTheEnds) {
  const double rest = std::pow(0.025, 0.1);
  EXPECT_EQ(fraction_interval(0, 10).low, 0);
  EXPECT_NEAR(fraction_interval(0, 10).high, 1 - rest, 1e-14);  // 0.3085
  EXPECT_NEAR(fraction_interval(1, 10).low, rest, 1e-14);
  EXPECT_EQ(fraction_interval(1, 10).high, 1);
}

TEST(FractionInterval, StaysStudentsWidthForVeryManyQueries) {
  const auto [low, high] = fraction_interval(0.25, 1000000000000);
  const double error = std::sqrt(0.25 * 0.75 / 1e12);
  EXPECT_NEAR((high - 0.25) / error, 1.959964, 1e-3);
  EXPECT_NEAR((0.25 - low) / error, 1.959964, 1e-3);
}

TEST(EstimateCell, DescribesAMetricOverItsQueries) {
  const ResultRow row = row_of_values("margin", {1, 2, 3, 6});
  EXPECT_EQ(row.metric, "margin");
  EXPECT_EQ(row.queries, 4);
  EXPECT_EQ(row.status, LineStatus::kOk);
  EXPECT_DOUBLE_EQ(*row.estimate, 3);
  EXPECT_DOUBLE_EQ(*row.sd, std::sqrt(14.0 / 3));
  EXPECT_DOUBLE_EQ(*row.std_error, *row.sd / 2);
  EXPECT_NEAR(*row.ci_high, 3 + 3.182446 * *row.std_error, 1e-5);  // t with 3 degrees of freedom
  EXPECT_NEAR(*row.ci_low, 3 - 3.182446 * *row.std_error, 1e-5);
  EXPECT_EQ(row.min, 1);
  EXPECT_EQ(row.max, 6);
  EXPECT_NEAR(*row.q05, 1, 1.0 / 128);
  EXPECT_NEAR(*row.median, 2, 2.0 / 128);
  EXPECT_EQ(row.q95, 6);
}

// The bin of 0.5 reaches above it, those of complements around 0.497 below what they stand for.
TEST(EstimateCell, QuantilesAreInOrderAroundOneHalf) {
  // The median is in the bin of 0.5, then in that of a complement, whose middle is lower.
  for (const std::size_t halves : {12, 1}) {
    std::vector<double> values(20, 0.503);
    std::vector<double> complements(20, 0.497);
    std::fill_n(values.begin(), halves, 0.5);
    std::fill_n(complements.begin(), halves, 0.5);
    const ResultRow row = row_of_values("top_weight", values, complements);
    EXPECT_LE(*row.min, *row.q05);
    EXPECT_LE(*row.q05, *row.median);
    EXPECT_LE(*row.median, *row.q95);
    EXPECT_LE(*row.q95, *row.max);
  }
}

TEST(EstimateCell, SaysWhereNothingVaried) {
  const ResultRow row = row_of_values("margin", {2, 2, 2});
  EXPECT_EQ(row.status, LineStatus::kDegenerate);
  EXPECT_EQ(row.estimate, 2);
  EXPECT_EQ(row.std_error, std::nullopt);
  EXPECT_EQ(row.ci_low, std::nullopt);
  EXPECT_EQ(row.z, std::nullopt);
  EXPECT_EQ(row.sd, 0);
}

TEST(EstimateCell, HasTheErrorOfNumbersWhoseSquaresOverflow) {
  const ResultRow row = row_of_values("margin", {1e200, 2e200, 3e200});
  EXPECT_EQ(row.status, LineStatus::kOk);
  EXPECT_DOUBLE_EQ(*row.estimate, 2e200);
  EXPECT_DOUBLE_EQ(*row.std_error, 1e200 / std::sqrt(3));
  EXPECT_DOUBLE_EQ(*row.sd, 1e200);
  EXPECT_EQ(row.max, 3e200);
}

TEST(EstimateCell, GivesFractionsAnIntervalEvenAtTheEnds) {
  const ResultRow none = row_of_values("saturated", {0, 0, 0, 0, 0});
  EXPECT_EQ(none.status, LineStatus::kOk);
  EXPECT_EQ(none.estimate, 0);
  EXPECT_EQ(none.std_error, std::nullopt);
  EXPECT_EQ(none.ci_low, 0);
  EXPECT_DOUBLE_EQ(*none.ci_high, fraction_interval(0, 5).high);
  const ResultRow all = row_of_values("saturated", {1, 1, 1});
  EXPECT_EQ(all.ci_high, 1);
  EXPECT_DOUBLE_EQ(*all.ci_low, fraction_interval(1, 3).low);
  const ResultRow some = row_of_values("saturated", {1, 0, 0, 0});
  EXPECT_EQ(some.estimate, 0.25);
  EXPECT_DOUBLE_EQ(*some.std_error, std::sqrt(0.25 * 0.75 / 4));
}

TEST(EstimateCell, OneQueryHasNoErrorBarAndNoSpread) {
  const ResultRow row = row_of_values("margin", {2.5});
  EXPECT_EQ(row.estimate, 2.5);
  EXPECT_EQ(row.status, LineStatus::kDegenerate);
  EXPECT_EQ(row.std_error, std::nullopt);
  EXPECT_EQ(row.sd, std::nullopt);
  EXPECT_EQ(row.median, 2.5);

  Experiment single = drawn_experiment("direct", 4, 1, 1);
  single.metrics = metric_rows({"logit_mean", "logit_sd", "logit_kurtosis"});
  const auto rows = run_config(config_of(single));
  EXPECT_TRUE(row_of(rows, "none", "logit_mean").estimate.has_value());
  for (const char* metric : {"logit_sd", "logit_kurtosis"}) {
    EXPECT_EQ(row_of(rows, "none", metric).estimate, std::nullopt) << metric;
  }
  for (const ResultRow& line : rows) {
    EXPECT_EQ(line.status, LineStatus::kDegenerate);
    EXPECT_EQ(line.std_error, std::nullopt);
    EXPECT_EQ(line.z, std::nullopt);
  }
}

// A spread's error rests on four moments of the scores, a kurtosis's on eight; weights are bounded.
TEST(EstimateCell, SpreadAndKurtosisHaveIntervalsOfTheirOwnShape) {
  Experiment experiment = drawn_experiment("direct", 4, 8, 30);
  experiment.metrics = metric_rows({"logit_sd", "logit_kurtosis"});
  const auto rows = run_config(config_of(experiment));
  const ResultRow& sd = row_of(rows, "none", "logit_sd");
  EXPECT_NEAR(*sd.ci_low * *sd.ci_high, *sd.estimate * *sd.estimate, 1e-12);
  const ResultRow& kurtosis = row_of(rows, "none", "logit_kurtosis");
  const double above = *kurtosis.estimate - 1;
  EXPECT_NEAR((*kurtosis.ci_low - 1) * (*kurtosis.ci_high - 1), above * above, 1e-12);
}

TEST(EstimateCell, ListsScalingByScalingInTheExperimentsOrder) {
  Experiment experiment = drawn_experiment("direct", 16, 8, 50);
  experiment.metrics = metric_rows({"slope", "logit_sd", "top_weight", "logit_mean"});
  const auto rows = run_config(config_of(experiment));
  ASSERT_EQ(rows.size(), 12U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].key.scaling, experiment.scalings[i / 4].name);
    EXPECT_EQ(rows[i].metric, experiment.metrics[i % 4]->name);
    EXPECT_EQ(rows[i].queries, 50);
  }
  // sd, min ... max describe a metric over queries, not a statistic of all logits.
  EXPECT_TRUE(rows[0].sd && rows[0].min && rows[0].median && rows[0].max);
  EXPECT_FALSE(rows[1].sd || rows[1].min || rows[1].median || rows[1].max);
}

TEST(EstimateCell, ComparesLogitsWithTheirExactMoments) {
  Experiment experiment = drawn_experiment("direct", 16, 8, 50);
  experiment.metrics = metric_rows({"logit_mean", "logit_sd", "logit_kurtosis"});
  Config config = config_of(experiment);
  const auto rows = run_config(config);
  const std::vector<std::pair<const char*, double>> spreads{
      {"none", 4}, {"div_sqrt_d", 1}, {"div_d", 0.25}};
  for (const auto& [scaling, spread] : spreads) {
    EXPECT_EQ(row_of(rows, scaling, "logit_mean").reference, 0);
    EXPECT_EQ(row_of(rows, scaling, "logit_sd").reference, spread);
    EXPECT_EQ(row_of(rows, scaling, "logit_kurtosis").reference, 3 + 6.0 / 16);
    const ResultRow& row = row_of(rows, scaling, "logit_sd");
    EXPECT_DOUBLE_EQ(*row.z, (*row.estimate - spread) / *row.std_error);
  }
  config.reference = ReferenceMode::kOff;
  for (const ResultRow& row : run_config(config)) {
    EXPECT_EQ(row.reference, std::nullopt);
    EXPECT_EQ(row.z, std::nullopt);
    EXPECT_TRUE(row.estimate.has_value());
  }
}

}  // namespace
}  // namespace attnscale
