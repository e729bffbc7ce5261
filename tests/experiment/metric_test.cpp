// What holds for every row of the metric table: its formula, by weights and by running sums.
#include "experiment/metric.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "support/dense_eigenvalues.h"
#include "support/plain_softmax.h"

namespace attnscale {
namespace {

using Logits = std::vector<double>;

constexpr double kNoSink = -std::numeric_limits<double>::infinity();

WeightRule rule_of_sink(double sink_logit) {
  return {{std::isfinite(sink_logit) ? NormaliserKind::kSink : NormaliserKind::kSoftmax,
           std::isfinite(sink_logit) ? sink_logit : 0}};
}

const MetricRow& row_of(std::string_view name) {
  return *find_metric(name);
}

double by_weights(std::string_view name, const Logits& logits, const WeightRule& rule = {}) {
  QueryWeights query;
  query.weigh(logits, rule, 1);
  return measure_weights(row_of(name), query, {0.375, 0.75});
}

using PlainMetric = std::function<long double(const PlainSoftmax&, Logits, const QueryContext&)>;

long double nothing_is_lost(const PlainSoftmax&, const Logits&, const QueryContext&) {
  return 0;
}

// Every metric of a softmax by its formula, from the plain softmax and the logits, of which the
// first is of an aligned key.
const std::map<std::string_view, PlainMetric>& plain_metrics() {
  static const std::map<std::string_view, PlainMetric> metrics{
      {"top_weight", [](const auto& plain, auto, const auto&) { return plain.p[plain.top]; }},
      {"slope", [](const auto& plain, auto, const auto&) { return plain.slope(); }},
      {"score_slope",
       [](const auto& plain, auto, const auto& c) { return plain.slope() * c.logit_per_score; }},
      {"entropy", [](const auto& plain, auto, const auto&) { return plain.entropy; }},
      {"entropy_bits",
       [](const auto& plain, auto, const auto&) { return plain.entropy / std::log(2.0L); }},
      {"sum_p2", [](const auto& plain, auto, const auto&) { return plain.sum_p2(); }},
      {"saturated",
       [](const auto& plain, auto, const auto& c) -> long double {
         return plain.p[plain.top] > c.saturated_above ? 1 : 0;
       }},
      {"margin",
       [](const auto&, auto logits, const auto&) -> long double {
         std::ranges::sort(logits, std::ranges::greater());
         return static_cast<long double>(logits[0]) - logits[1];
       }},
      {"max_logit",
       [](const auto&, auto logits, const auto&) -> long double {
         const auto [low, high] = std::ranges::minmax(logits);
         return std::max(-low, high);
       }},
      {"logsumexp",
       [](const auto& plain, auto logits, const auto&) -> long double {
         return logits[plain.top] - std::log(plain.p[plain.top]);
       }},
      {"jacobian_norm", [](const auto& plain, auto, const auto&) { return plain.jacobian_norm(); }},
      {"jacobian_spectral",
       [](const auto& plain, auto, const auto&) {
         return largest_eigenvalue(jacobian_of(plain, plain.p.size()));
       }},
      {"effective_keys", [](const auto& plain, auto, const auto&) { return 1 / plain.sum_p2(); }},
      {"perplexity", [](const auto& plain, auto, const auto&) { return std::exp(plain.entropy); }},
      {"output_sd", [](const auto& plain, auto, const auto&) { return std::sqrt(plain.sum_p2()); }},
      {"weight_margin",
       [](const auto& plain, auto logits, const auto&) -> long double {
         std::ranges::sort(logits, std::ranges::greater());
         const auto gap = static_cast<long double>(logits[1]) - logits[0];
         return -plain.p[plain.top] * std::expm1(gap);
       }},
      {"total_weight", [](const auto&, auto, const auto&) -> long double { return 1; }},
      {"sink_weight", [](const auto&, auto, const auto&) -> long double { return 0; }},
      {"top_distance",
       [](const auto& plain, auto, const auto& c) { return c.distance(plain.top); }},
      {"mean_distance",
       [](const auto& plain, auto, const auto& c) {
         long double sum = 0;
         for (std::size_t key = 0; key < plain.p.size(); ++key) {
           sum += plain.p[key] * c.distance(key);
         }
         return sum;
       }},
      {"overflowed", nothing_is_lost},
      {"zero_slope", nothing_is_lost},
      {"lost_keys", nothing_is_lost},
      {"weight_error", nothing_is_lost},
      {"largest_weight_error", nothing_is_lost},
      {"wrong_top", nothing_is_lost},
      {"output_error", nothing_is_lost},
      {"entropy_error", nothing_is_lost},
      {"logit_error", nothing_is_lost},
      {"aligned_top",
       [](const auto& plain, auto, const auto&) -> long double { return plain.top == 0 ? 1 : 0; }},
      {"aligned_weight", [](const auto& plain, auto, const auto&) { return plain.p[0]; }},
  };
  return metrics;
}

long double plain_complement(std::string_view name, const PlainSoftmax& plain) {
  if (name == "top_weight") return plain.others[plain.top];
  if (name == "sum_p2") return plain.sum_of_slopes();
  if (name == "total_weight") return 0;
  ADD_FAILURE() << "no plain formula of 1 - " << name;
  return 0;
}

// Subnormal numbers have no relative accuracy: terms of at most a hundred round to whole units.
void expect_relative(double found, long double expected, double tolerance, double terms = 0) {
  constexpr double kUnits = 100 * std::numeric_limits<double>::denorm_min();
  EXPECT_LE(std::abs(found - expected),
            std::max(std::abs(expected), static_cast<long double>(terms)) * tolerance + kUnits)
      << found << " instead of " << static_cast<double>(expected);
}

// The size of what cancels in a metric that is a sum: of logsumexp its top logit.
double terms_of(const MetricRow& row, const Logits& logits) {
  return row.name == "logsumexp" ? std::abs(*std::ranges::max_element(logits)) : 0;
}

template <typename Check>
void for_every_row_of_logits(const Check& check) {
  for (const std::size_t keys : {2U, 3U, 8U, 30U}) {
    for (const double reach : {0.01, 1.0, 4.0, 20.0, 80.0}) {
      for (const Logits& logits : random_rows(6, keys, reach)) {
        SCOPED_TRACE(testing::Message() << keys << " keys within " << reach);
        check(logits);
      }
    }
  }
}

TEST(EveryMetric, IsItsPlainFormulaOfTheWeights) {
  const QueryContext context{0.375, 0.75};
  for (const MetricRow& row : metric_table()) {
    if (row.kind != MetricKind::kPerQuery) continue;
    SCOPED_TRACE(row.name);
    ASSERT_TRUE(plain_metrics().contains(row.name)) << "give it a plain formula above";
    for_every_row_of_logits([&](const Logits& logits) {
      const PlainSoftmax plain(logits);
      QueryWeights query;
      query.weigh(logits, {}, 1);
      expect_relative(row.of_weights(query, context),
                      plain_metrics().at(row.name)(plain, logits, context), plain.tolerance(),
                      terms_of(row, logits));
      if (!row.complement_of_weights) return;
      expect_relative(row.complement_of_weights(query, context), plain_complement(row.name, plain),
                      plain.tolerance());
    });
  }
}

// With a sink and without: the sums know of no single weight, the weights of no sum.
TEST(EveryMetric, IsTheSameByWeightsAndByRunningSums) {
  const QueryContext context{0.375, 0.75};
  QueryWeights query;
  for (const double sink : {kNoSink, -5.0, 0.5, 30.0, 300.0, 600.0, 700.0}) {
    SCOPED_TRACE(sink);
    for_every_row_of_logits([&](const Logits& logits) {
      const SoftmaxSums sums = kernel_group({logits}, 7, SoftmaxLevel::kPowers, sink);
      const SoftmaxQuery aligned = kernel_group({{logits[0]}}, 1).query(0);
      // The exponential of the sink multiplies the rounding of its difference to the top.
      const double deepest = std::isfinite(sink) ? std::abs(sink) : 0;
      const double tolerance = PlainSoftmax(logits).tolerance() + 8 * 0x1p-53 * deepest;
      query.weigh(logits, rule_of_sink(sink), 1);
      for (const MetricRow& row : metric_table()) {
        SCOPED_TRACE(row.name);
        if (row.measure) {
          expect_relative(row.measure(sums.query(0), context), row.of_weights(query, context),
                          tolerance, terms_of(row, logits));
        }
        if (row.complement) {
          expect_relative(row.complement(sums.query(0), context),
                          row.complement_of_weights(query, context), tolerance);
        }
        if (row.measure_aligned) {
          expect_relative(row.measure_aligned(sums.query(0), aligned),
                          row.of_weights(query, context), tolerance);
        }
      }
    });
  }
}

// Logits are multiples of 2^-20 and the constant is 4096, so that every difference is exact: the
// very same numbers, by weights and by sums. A sink is a logit too; one that stays behind is felt.
TEST(EveryMetric, ButThoseInLogitsIsTheSameWhateverIsAddedToAllLogits) {
  constexpr double kConstant = 4096;
  const QueryContext context{0.375, 0.75};
  for (const double sink : {kNoSink, 1.5}) {
    for (Logits logits : random_rows(6, 9, 8)) {
      for (double& logit : logits) logit = std::round(logit * 0x1p20) * 0x1p-20;
      Logits shifted = logits;
      for (double& logit : shifted) logit += kConstant;
      QueryWeights before;
      QueryWeights after;
      before.weigh(logits, rule_of_sink(sink), 1);
      after.weigh(shifted, rule_of_sink(sink + kConstant), 1);
      const SoftmaxSums sums = kernel_group({logits}, 4, SoftmaxLevel::kPowers, sink);
      const SoftmaxSums of_shifted =
          kernel_group({shifted}, 4, SoftmaxLevel::kPowers, sink + kConstant);
      for (const MetricRow& row : metric_table()) {
        if (row.kind != MetricKind::kPerQuery || row.name == "max_logit") continue;
        if (row.name == "logsumexp") continue;
        EXPECT_EQ(row.of_weights(after, context), row.of_weights(before, context)) << row.name;
        if (!row.measure) continue;
        EXPECT_EQ(row.measure(of_shifted.query(0), context), row.measure(sums.query(0), context))
            << row.name;
      }
      if (sink == kNoSink) continue;
      after.weigh(shifted, rule_of_sink(sink), 1);
      EXPECT_LT(after.sink(), before.sink());
    }
  }
}

// What a level leaves out is NaN, and a formula that looked at it would be.
TEST(EveryMetric, NeedsNoMoreOfTheSoftmaxThanItsLevel) {
  const auto rows = random_rows(11, 5, 4);
  const std::vector<SoftmaxQuery> everything = kernel_sums(rows, 2);
  const QueryContext context{0.375, 0.5};
  for (const MetricRow& row : metric_table()) {
    SCOPED_TRACE(row.name);
    const SoftmaxSums sums = kernel_group(rows, 2, row.level);
    std::vector<double> column(rows.size());
    for (const QueryFormula& formula : {row.measure, row.complement}) {
      if (!formula) continue;
      formula(sums, std::vector(rows.size(), context), column);
      for (std::size_t query = 0; query < rows.size(); ++query) {
        EXPECT_EQ(column[query], formula(everything[query], context));
      }
    }
  }
}

TEST(EveryMetric, TakesTheContextOfItsQuery) {
  const auto rows = random_rows(9, 3, 2);
  const SoftmaxSums sums = kernel_group(rows, 3);
  std::vector<QueryContext> contexts;
  for (std::size_t query = 0; query < rows.size(); ++query) {
    contexts.push_back({0.1 * static_cast<double>(query), 0.08 * static_cast<double>(query)});
  }
  std::vector<double> column(rows.size());
  for (const MetricRow& row : metric_table()) {
    if (!row.measure) continue;
    row.measure(sums, contexts, column);
    for (std::size_t query = 0; query < rows.size(); ++query) {
      EXPECT_EQ(column[query],
                row.measure(sums.query(static_cast<std::int64_t>(query)), contexts[query]))
          << row.name;
    }
  }
}

TEST(EveryMetric, KeepsItsDigitsWhereOneWeightRoundsToOne) {
  // softmax(40, 0): p = 4.248354255291589e-18 beside the top.
  const double small = 4.248354255291589e-18;
  const SoftmaxQuery sums = kernel_sums({{40, 0}}, 2).front();
  QueryWeights query;
  const Logits logits{40, 0};
  query.weigh(logits, {}, 1);
  const QueryContext context{0.5, 0.99};
  const std::map<std::string_view, double> expected{
      {"top_weight", 1},       {"saturated", 1},
      {"slope", small},        {"score_slope", small / 2},
      {"entropy", small * 41}, {"jacobian_norm", 2 * small},
      {"effective_keys", 1},   {"jacobian_spectral", 2 * small},
      {"output_sd", 1},        {"weight_margin", 1},
      {"zero_slope", 0},       {"lost_keys", 0}};
  for (const auto& [name, value] : expected) {
    EXPECT_DOUBLE_EQ(row_of(name).of_weights(query, context), value) << name;
    if (!row_of(name).measure) continue;
    EXPECT_DOUBLE_EQ(row_of(name).measure(sums, context), value) << name;
  }
  for (const auto& [name, value] :
       {std::pair{"top_weight", small}, std::pair{"sum_p2", 2 * small}}) {
    EXPECT_DOUBLE_EQ(row_of(name).complement_of_weights(query, context), value);
    EXPECT_DOUBLE_EQ(row_of(name).complement(sums, context), value);
  }
}

// Two keys of weight 1/4 beside a sink of 1/2, which counts against the top key and is none itself.
TEST(Metrics, OfASinkRunOverTheKeysAlone) {
  const Logits logits{0, 0};
  const WeightRule rule = rule_of_sink(std::log(2.0));
  const std::map<std::string_view, double> expected{
      {"top_weight", 0.25},
      {"slope", 0.1875},
      {"entropy", std::log(2)},
      {"sum_p2", 0.125},
      {"total_weight", 0.5},
      {"sink_weight", 0.5},
      {"effective_keys", 2},
      {"logsumexp", std::log(2)},
      {"entropy_bits", 1},
      {"output_sd", std::sqrt(0.125)},
      {"weight_margin", 0},
      {"jacobian_spectral", 0.25},
      {"jacobian_norm", std::sqrt(2 * 0.1875 * 0.1875 + 2 * 0.0625 * 0.0625)},
      {"aligned_weight", 0.25},
      {"aligned_top", 1}};
  for (const auto& [name, value] : expected) {
    EXPECT_NEAR(by_weights(name, logits, rule), value, 1e-15) << name;
  }
}

// Each sigmoid is by itself: nothing is normalised. sigmoid(ln 3) = 3/4, sigmoid(0) = 1/2.
TEST(Metrics, OfASigmoidTakeItsWeightsAsTheyAre) {
  const Logits logits{std::log(3.0) - 1, -1};
  const WeightRule rule{{NormaliserKind::kSigmoid, 1}};
  const std::map<std::string_view, double> expected{
      {"top_weight", 0.75},
      {"slope", 0.1875},
      {"score_slope", 0.1875 * 0.375},
      {"entropy", 0.75 * std::log(4.0 / 3) + 0.5 * std::log(2.0)},
      {"sum_p2", 0.8125},
      {"total_weight", 1.25},
      {"sink_weight", 0},
      {"effective_keys", 1.25 * 1.25 / 0.8125},
      {"output_sd", std::sqrt(0.8125)},
      {"weight_margin", 0.25},
      {"jacobian_spectral", 0.25},
      {"jacobian_norm", std::hypot(0.1875, 0.25)},
      {"margin", std::log(3.0)},
      {"logsumexp", std::log(4.0) - 1},
      {"entropy_bits", 0.75 * std::log2(4.0 / 3) + 0.5},
      {"aligned_weight", 0.75}};
  for (const auto& [name, value] : expected) {
    EXPECT_NEAR(by_weights(name, logits, rule), value, 1e-15) << name;
  }
}

// Beyond gaps of 8.3 the top weight of two rounds to 1 in float16 (half a step of 2^-11 below it),
// beyond 17.4 the other rounds to 0.
TEST(Metrics, SeeWhatHalfPrecisionLoses) {
  const WeightRule half{{}, Precision::kFloat16};
  EXPECT_EQ(by_weights("zero_slope", {7, 0}, half), 0);
  EXPECT_EQ(by_weights("zero_slope", {9, 0}, half), 1);
  EXPECT_EQ(by_weights("zero_slope", {9, 0}), 0);
  EXPECT_EQ(by_weights("lost_keys", {16, 0, 0}, half), 0);
  EXPECT_EQ(by_weights("lost_keys", {18, 1, 0, 0}, half), 0.5);
  EXPECT_EQ(by_weights("lost_keys", {18, 1, 0, 0}), 0);
  // exp(-1) -> 1507 2^-12, 1 / (1 + that) -> 1497 2^-11, its complement 551 2^-11: the product
  // 824847 2^-22 -> 1611 2^-13.
  EXPECT_EQ(by_weights("slope", {1, 0}, half), 1611 * 0x1p-13);
  const WeightRule unshifted{{}, Precision::kFloat16, MaxShift::kNone};
  EXPECT_EQ(by_weights("overflowed", {11, 0}, unshifted), 0);
  EXPECT_EQ(by_weights("overflowed", {12, 0}, unshifted), 1);
}

// Two logits 12 in float16: 2 exponentials 1 relative to 12, or, as they are, infinity beyond 11.1;
// at 8 each exp(8) = 2980.96 is 2980 or 2982, and twice that the total.
TEST(Metrics, LogOfTheSumIsWhatAHalfPrecisionKernelHas) {
  const WeightRule half{{}, Precision::kFloat16};
  const WeightRule unshifted{{}, Precision::kFloat16, MaxShift::kNone};
  EXPECT_DOUBLE_EQ(by_weights("logsumexp", {12, 12}, half), 12 + std::log(2));
  EXPECT_TRUE(std::isnan(by_weights("logsumexp", {12, 12}, unshifted)));
  EXPECT_DOUBLE_EQ(by_weights("logsumexp", {8, 8}, unshifted), std::log(2 * 2980.0));
}

TEST(Metrics, OfAQueryThatOverflowedAreNotNumbersButTheOneThatCountsIt) {
  for (const MetricRow& row : metric_table()) {
    if (row.kind != MetricKind::kPerQuery) continue;
    const double value = by_weights(row.name, {std::numeric_limits<double>::infinity(), 0},
                                    {{}, Precision::kFloat16});
    EXPECT_EQ(std::isnan(value), row.name != "overflowed") << row.name;
  }
}

TEST(EveryMetric, SaysWhatItIs) {
  for (const MetricRow& row : metric_table()) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(row.of_weights != nullptr, row.kind == MetricKind::kPerQuery);
    EXPECT_FALSE(row.measure && row.measure_aligned);
    EXPECT_EQ(row.measure_aligned != nullptr, row.needs == MetricNeeds::kAlignedKeys);
    EXPECT_TRUE(!row.complement || row.measure);
    EXPECT_EQ(static_cast<bool>(row.complement), row.complement_of_weights != nullptr);
    EXPECT_TRUE(row.unit == "1" || row.unit == "nat" || row.unit == "bit" || row.unit == "logit")
        << row.unit;
  }
}

}  // namespace
}  // namespace attnscale
