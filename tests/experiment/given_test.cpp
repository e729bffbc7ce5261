#include "experiment/given.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/drawn_cell.h"
#include "support/public_numbers.h"
#include "support/scalings.h"

namespace attnscale {
namespace {

Experiment given_experiment(const Given& given,
                            const std::vector<const char*>& scalings = {"none"}) {
  Experiment experiment;
  experiment.name = "given";
  experiment.given = given;
  for (const char* name : scalings) experiment.scalings.push_back(*find_scaling(name));
  return experiment;
}

GivenResults measure(const Experiment& experiment) {
  return *measure_given(config_of(experiment, 5), experiment);
}

Given scores(const std::vector<std::vector<double>>& rows) {
  Given given;
  given.scores.rows = rows;
  return given;
}

// The lesson's worked example.
Given lesson_vectors() {
  Given given;
  given.queries.rows = {{1, 2, 0, 1}};
  given.keys.rows = {{1, 1, 0, 1}, {0, 1, 1, 0}, {1, -1, 2, 1}};
  given.values.rows = {{1, 0}, {0, 1}, {1, 1}};
  return given;
}

TEST(Given, ReproducesEveryNumberTheLessonPrints) {
  const auto cases = public_numbers()["lesson"];
  ASSERT_EQ(cases.size(), 6U);
  for (const auto& entry : cases) {
    SCOPED_TRACE(entry.dump());
    Given given;
    if (entry.contains("logits")) given.scores.rows = {entry["logits"].get<std::vector<double>>()};
    if (entry.contains("scores")) given.scores.rows = {entry["scores"].get<std::vector<double>>()};
    if (entry.contains("d")) given.d = entry["d"].get<std::int64_t>();
    if (entry.contains("query")) {
      given.queries.rows = {entry["query"].get<std::vector<double>>()};
      entry["keys"].get_to(given.keys.rows);
      if (entry.contains("values")) entry["values"].get_to(given.values.rows);
    }
    const std::string scaling = entry.value("scaling", "none");
    const GivenResults found = measure(given_experiment(given, {scaling.c_str()}));

    const auto weights = entry["weights"].get<std::vector<double>>();
    ASSERT_EQ(found.weights.size(), weights.size());
    for (std::size_t key = 0; key < weights.size(); ++key) {
      EXPECT_NEAR(found.weights[key].weight, weights[key],
                  printed_error(decimals_of(entry["weights"])));
    }
    if (entry.contains("slope")) {
      EXPECT_NEAR(found.weights[0].slope, entry["slope"].get<double>(),
                  printed_error(decimals_of(entry["slope"])));
    }
    const auto outputs = entry.value("output", std::vector<double>{});
    ASSERT_EQ(found.outputs.size(), outputs.size());
    for (std::size_t component = 0; component < outputs.size(); ++component) {
      EXPECT_NEAR(found.outputs[component].output, outputs[component],
                  printed_error(decimals_of(entry["output"])));
    }
  }
}

TEST(Given, ScoresAreDotProductsOfQueriesAndKeys) {
  const GivenResults found = measure(given_experiment(lesson_vectors(), {"none", "div_sqrt_d"}));
  ASSERT_EQ(found.weights.size(), 6U);
  const std::vector<double> expected{4, 2, 0};
  for (std::size_t i = 0; i < 6; ++i) {
    const WeightRow& row = found.weights[i];
    EXPECT_EQ(row.key.experiment, "given");
    EXPECT_EQ(row.query, 0);
    EXPECT_EQ(row.head, 0);
    EXPECT_EQ(row.key_number, static_cast<std::int64_t>(i % 3));
    EXPECT_EQ(row.key.scaling, i < 3 ? "none" : "div_sqrt_d");
    EXPECT_EQ(row.score, expected[i % 3]);
    EXPECT_EQ(row.logit, expected[i % 3] / (i < 3 ? 1 : 2));
    EXPECT_NEAR(row.slope, row.weight * (1 - row.weight), 1e-15);
  }
}

TEST(Given, OutputsAreTheWeightedSumOfTheValues) {
  const GivenResults found = measure(given_experiment(lesson_vectors(), {"none", "div_sqrt_d"}));
  ASSERT_EQ(found.outputs.size(), 4U);
  for (std::size_t s = 0; s < 2; ++s) {
    const auto weight = [&](std::size_t key) { return found.weights[3 * s + key].weight; };
    EXPECT_DOUBLE_EQ(found.outputs[2 * s].output, weight(0) + weight(2));
    EXPECT_DOUBLE_EQ(found.outputs[2 * s + 1].output, weight(1) + weight(2));
    EXPECT_EQ(found.outputs[2 * s + 1].component, 1);
    EXPECT_EQ(found.outputs[2 * s].key.scaling, s == 0 ? "none" : "div_sqrt_d");
  }
}

TEST(Given, RowsMayDifferInLength) {
  Experiment experiment = given_experiment(scores({{1, 0}, {3}, {0, 0, 0, 0}}));
  experiment.metrics = metric_rows({"entropy", "top_weight", "logit_mean"});
  const GivenResults found = measure(experiment);
  std::vector<std::int64_t> queries;
  for (const WeightRow& row : found.weights) queries.push_back(row.query);
  EXPECT_EQ(queries, (std::vector<std::int64_t>{0, 0, 1, 2, 2, 2, 2}));
  EXPECT_EQ(found.weights[2].weight, 1);
  EXPECT_EQ(found.weights[6].weight, 0.25);
  const ResultRow& entropy = found.rows[0];
  EXPECT_EQ(entropy.key.keys, 4);  // the longest
  EXPECT_EQ(entropy.queries, 3);
  EXPECT_EQ(entropy.min, 0);
  EXPECT_DOUBLE_EQ(*entropy.max, std::log(4.0));
  const double top = 1 / (1 + std::exp(-1.0));
  EXPECT_DOUBLE_EQ(*found.rows[1].estimate, (top + 1 + 0.25) / 3);
  EXPECT_DOUBLE_EQ(*found.rows[2].estimate, 4.0 / 7);  // of all seven logits
}

TEST(Given, LinesOfMetricsHaveNoErrorBars) {
  Experiment experiment = given_experiment(scores({{1, 2}, {3, 6}}), {"none", "div_d"});
  experiment.given->d = 2;
  experiment.metrics =
      metric_rows({"logit_sd", "logit_kurtosis", "margin", "score_slope", "saturated"});
  const std::vector<ResultRow> rows = measure(experiment).rows;
  ASSERT_EQ(rows.size(), 10U);
  for (const ResultRow& row : rows) {
    EXPECT_EQ(row.status, LineStatus::kOk);
    EXPECT_EQ(row.key.d, 2);
    EXPECT_EQ(row.key.seed, 5);
    EXPECT_EQ(row.key.entries, "");
    EXPECT_FALSE(row.std_error || row.ci_low || row.ci_high || row.reference || row.z);
  }
  EXPECT_DOUBLE_EQ(*row_of(rows, "none", "logit_sd").estimate, std::sqrt(14.0 / 3));
  EXPECT_DOUBLE_EQ(*row_of(rows, "div_d", "logit_sd").estimate, std::sqrt(14.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(*row_of(rows, "div_d", "logit_kurtosis").estimate, 4 * 98 / (14.0 * 14));
  const ResultRow& margin = row_of(rows, "none", "margin");
  EXPECT_EQ(margin.estimate, 2);
  EXPECT_EQ(margin.min, 1);
  EXPECT_EQ(margin.median, 1);
  EXPECT_EQ(margin.q95, 3);
  EXPECT_DOUBLE_EQ(*margin.sd, std::sqrt(2.0));
  // d logit / d score is 1/2: half of the slopes of logits (0.5, 1) and (1.5, 3).
  const auto slope = [](double gap) { return 1 / ((1 + std::exp(gap)) * (1 + std::exp(-gap))); };
  EXPECT_NEAR(*row_of(rows, "div_d", "score_slope").estimate, (slope(0.5) + slope(1.5)) / 4, 1e-15);
}

TEST(Given, HasNoLinesWhereNoMetricIsNamed) {
  EXPECT_TRUE(measure(given_experiment(scores({{1, 2}}))).rows.empty());
  EXPECT_TRUE(measure(given_experiment(scores({{1, 2}}))).outputs.empty());
}

TEST(Given, SaysWhatDoesNotExist) {
  Experiment one = given_experiment(scores({{7}}));
  one.metrics = metric_rows({"logit_sd", "logit_kurtosis", "logit_mean"});
  const std::vector<ResultRow> rows = measure(one).rows;
  for (const char* metric : {"logit_sd", "logit_kurtosis"}) {
    EXPECT_EQ(row_of(rows, "none", metric).estimate, std::nullopt);
    EXPECT_EQ(row_of(rows, "none", metric).status, LineStatus::kDegenerate);
  }
  EXPECT_EQ(row_of(rows, "none", "logit_mean").estimate, 7);
}

TEST(Given, NumbersWhoseSquaresOverflowHaveASpread) {
  Experiment experiment = given_experiment(scores({{1e200, 0}, {3e200, 0}}));
  experiment.metrics = metric_rows({"max_logit", "logit_mean", "logit_sd"});
  const std::vector<ResultRow> rows = measure(experiment).rows;
  EXPECT_DOUBLE_EQ(*row_of(rows, "none", "max_logit").estimate, 2e200);
  EXPECT_DOUBLE_EQ(*row_of(rows, "none", "max_logit").sd, std::sqrt(2) * 1e200);
  EXPECT_DOUBLE_EQ(*row_of(rows, "none", "logit_mean").estimate, 1e200);
  EXPECT_DOUBLE_EQ(*row_of(rows, "none", "logit_sd").estimate, std::sqrt(2) * 1e200);
  EXPECT_EQ(row_of(rows, "none", "logit_sd").status, LineStatus::kOk);
}

// One of three queries overflows in float16, by a score or by a cap's argument that hides it.
TEST(Given, LinesLeaveOutQueriesThatAreNotFinite) {
  for (const char* logit : {"q.k", "tanh(q.k)"}) {
    Experiment experiment = given_experiment(scores({{4, 0}, {70000, 1}, {2, 0}}));
    experiment.scalings = {logit_scaling("half", logit, {.precision = Precision::kFloat16})};
    experiment.metrics = metric_rows({"max_logit", "logit_mean", "overflowed", "output_sd"});
    Experiment without = experiment;
    without.given->scores.rows = {{4, 0}, {2, 0}};
    const auto rows = measure(experiment).rows;
    const auto of_others = measure(without).rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].metric == "overflowed") {
        EXPECT_DOUBLE_EQ(*rows[i].estimate, 1.0 / 3);
        EXPECT_EQ(rows[i].left_out, 0);
        continue;
      }
      EXPECT_EQ(rows[i].status, LineStatus::kSomeNonfinite);
      EXPECT_EQ(rows[i].left_out, 1);
      EXPECT_EQ(rows[i].queries, of_others[i].queries);
      EXPECT_EQ(rows[i].estimate, of_others[i].estimate);
      EXPECT_EQ(rows[i].sd, of_others[i].sd);
    }
  }
}

TEST(Given, ScoresBeyondTheRangeOfDoublesAreSaidToBeSo) {
  Given given;
  given.queries.rows = {{1e200}};
  given.keys.rows = {{1e200}, {1}};
  Experiment experiment = given_experiment(given);
  experiment.metrics = metric_rows({"logit_mean", "logit_sd", "top_weight", "max_logit"});
  for (const ResultRow& row : measure(experiment).rows) {
    EXPECT_EQ(row.estimate, std::nullopt) << row.metric;
    EXPECT_EQ(row.status, LineStatus::kNonfinite) << row.metric;
  }
}

}  // namespace
}  // namespace attnscale
