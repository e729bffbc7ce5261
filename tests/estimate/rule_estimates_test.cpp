// Estimates under every kind of scaling beside their exact values, from the draw to the line of the
// results: powers of d, soft-caps, sinks, sigmoids, logarithms of keys, norms, and mixtures of
// them. Seeds are fixed. Each z beyond 4 has the probability 6e-5; the numbers of one cell share
// draws.
#include <gtest/gtest.h>

#include <cmath>

#include "numerics/shortest.h"
#include "support/drawn_cell.h"
#include "support/scalings.h"

namespace attnscale {
namespace {

constexpr double kErrors = 4;

// Caps low enough to bend, sinks and biases of the size of the logits.
std::vector<Scaling> rules_of_the_field() {
  const auto sink = [](double logit) {
    return WeightRule{.normaliser = {NormaliserKind::kSink, logit}};
  };
  const auto sigmoid = [](double bias) {
    return WeightRule{.normaliser = {NormaliserKind::kSigmoid, bias}};
  };
  return {
      logit_scaling("soft_cap", "1.5 tanh(q.k / sqrt(d) / 1.5)"),
      preset("gemma2_27b"),
      logit_scaling("grok1", "30 tanh(20 q.k / sqrt(128) / 30)"),
      preset("softmax1"),
      preset("gpt_oss", {2.5}),
      preset("sigmoid", {-2}),
      preset("ssmax", {0.43}),
      preset("log_512"),
      preset("qknorm", {64}),
      logit_scaling("gemma4", "(0.5 rms(q)).(0.75 rms(k))"),
      preset("qwen3"),
      logit_scaling("capped_sink", "2 tanh(-3 q.k / sqrt(d) / 2)", sink(0)),
      logit_scaling("capped_sigmoid", "tanh(2 q.k / sqrt(d))", sigmoid(1)),
      logit_scaling("capped_norm", "3 tanh(rms(q).rms(k) / 3)"),
      logit_scaling("factor_after_cap", "1.7 * 1.5 tanh(q.k / sqrt(d) / 1.5)"),
      logit_scaling("normed_sink", "rms(q).rms(k) / sqrt(d)", sink(1)),
      logit_scaling("normed_sigmoid", "rms(q).rms(k) / sqrt(d)", sigmoid(-1)),
  };
}

bool is_constant(const ResultRow& row, const Scaling& scaling) {
  const NormaliserKind kind = scaling.weights.normaliser.kind;
  if (row.metric == "total_weight") return kind == NormaliserKind::kSoftmax;
  return row.metric == "sink_weight" && kind != NormaliserKind::kSink;
}

void expect_exact(const ResultRow& row, const Scaling& scaling) {
  SCOPED_TRACE(row.key.scaling + " " + row.metric);
  ASSERT_TRUE(row.reference);
  if (is_constant(row, scaling)) {
    EXPECT_NEAR(row.estimate.value(), *row.reference, 1e-7);
    return;
  }
  ASSERT_TRUE(row.z) << name_of(row.status);
  EXPECT_LT(std::abs(*row.z), kErrors)
      << *row.estimate << " +- " << *row.std_error << " instead of " << *row.reference;
}

// Every metric that has an exact value, under every rule.
void expect_exact_estimates(std::string_view sampler, std::int64_t d, std::int64_t keys,
                            std::int64_t queries) {
  SCOPED_TRACE(testing::Message() << sampler << " d=" << d << " keys=" << keys);
  Experiment experiment = drawn_experiment(sampler, d, keys, queries);
  experiment.scalings = rules_of_the_field();
  experiment.metrics =
      metric_rows({"logit_mean", "logit_sd", "logit_kurtosis", "top_weight", "slope", "score_slope",
                   "entropy", "sum_p2", "margin", "total_weight", "sink_weight"});
  const auto rows = run_config(config_of(experiment, 6));
  ASSERT_EQ(rows.size(), experiment.scalings.size() * experiment.metrics.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    expect_exact(rows[i], experiment.scalings[i / experiment.metrics.size()]);
  }
}

TEST(EveryRule, EstimatesItsExactValues) {
  for (const char* const sampler : {"direct", "vectors", "boost"}) {
    expect_exact_estimates(sampler, 16, 8, 20000);
  }
}

TEST(EveryRule, EstimatesItsExactValuesAtAMillionSlow) {
  expect_exact_estimates("direct", 16, 8, 1000000);
  expect_exact_estimates("direct", 4, 2, 1000000);
  expect_exact_estimates("direct", 256, 32, 1000000);
  expect_exact_estimates("vectors", 8, 8, 200000);
  expect_exact_estimates("boost", 8, 8, 200000);
}

// Spread d^(1/2 + power) for every power of d from 0 to -1. All powers see the same scores: one z
// for each d and sampler.
TEST(EveryPowerOfD, HasTheSpreadOfItsFormula) {
  for (const char* const sampler : {"direct", "vectors", "boost"}) {
    for (const std::int64_t d : {4, 16, 64, 256, 1024}) {
      Experiment experiment = drawn_experiment(sampler, d, 1, 4000);
      experiment.metrics = metric_rows({"logit_sd"});
      experiment.scalings.clear();
      for (int tenths = 0; tenths >= -10; --tenths) {
        const double power = tenths / 10.0;
        experiment.scalings.push_back(logit_scaling("power", "q.k * d^" + shortest(power)));
        experiment.scalings.back().value = power;
      }
      for (const ResultRow& row : run_config(config_of(experiment, 2))) {
        SCOPED_TRACE(testing::Message() << sampler << " " << d << "^" << *row.key.scaling_value);
        const double expected = std::pow(static_cast<double>(d), 0.5 + *row.key.scaling_value);
        EXPECT_NEAR(*row.reference / expected, 1, 1e-14);
        EXPECT_LT(std::abs(*row.z), kErrors);
      }
    }
  }
}

std::vector<ResultRow> rows_under(const Experiment& plain, const Scaling& scaling) {
  Experiment experiment = plain;
  experiment.scalings = {scaling};
  std::vector<ResultRow> rows = run_config(config_of(experiment, 3));
  for (ResultRow& row : rows) row.key.scaling = "any";
  return rows;
}

// d^-1/4 on queries and on keys is the factor 1/sqrt(d): the same bits of every metric.
TEST(QuarterPowers, OnBothSidesAreOneOverTheRoot) {
  Experiment experiment = drawn_experiment("vectors", 50, 8, 3000);
  experiment.metrics.clear();
  for (const MetricRow& row : metric_table()) {
    if (row.needs != MetricNeeds::kAlignedKeys) experiment.metrics.push_back(&row);
  }
  EXPECT_EQ(rows_under(experiment, *find_scaling("quarter_powers")),
            rows_under(experiment, *find_scaling("div_sqrt_d")));
  EXPECT_NE(rows_under(experiment, *find_scaling("quarter_powers")),
            rows_under(experiment, *find_scaling("div_d")));
}

// Scores of spread 30 * 30 * 32 = 28,800 lie beyond float16's 65504 at 2.3 spreads, once in 44;
// over sqrt(d) they are far from it.
TEST(QuarterPowers, StayFiniteInHalfPrecisionWhereTheScoreOverflows) {
  Experiment experiment = drawn_experiment("direct", 1024, 8, 500);
  experiment.entries[0].queries.sd = 30;
  experiment.entries[0].keys.sd = 30;
  experiment.metrics = metric_rows({"overflowed", "logit_sd", "top_weight"});
  const WeightRule half{.precision = Precision::kFloat16};
  const auto after = rows_under(experiment, preset("div_sqrt_d", half));
  const auto quarter = rows_under(experiment, preset("quarter_powers", half));
  EXPECT_GT(after[0].estimate.value(), 0.05);
  EXPECT_EQ(after[1].status, LineStatus::kSomeNonfinite);
  EXPECT_EQ(after[1].left_out, std::lround(500 * *after[0].estimate));
  EXPECT_EQ(after[0].left_out, 0);
  EXPECT_EQ(quarter[0].estimate, 0);
  EXPECT_NEAR(quarter[1].estimate.value(), 900, 50);
  EXPECT_EQ(quarter[2].status, LineStatus::kOk);
}

}  // namespace
}  // namespace attnscale
