#include "experiment/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "experiment/scaling_table.h"

namespace attnscale {
namespace {

using testing::HasSubstr;
using testing::Pointwise;

constexpr double kRounding = 0x1p-52;

Scaling preset(std::string_view name, std::vector<double> numbers = {}) {
  return make_scaling(std::string(name), find_scaling_row(name), std::move(numbers), {});
}

double logit_of(const ScalingRule& rule, double score, ScoreSize size = {64, 8}) {
  double logit = 0;
  apply_scaling(rule, size, {{&score, 1}}, {&logit, 1});
  return logit;
}

// The logit of a score of queries and keys with these squared norms.
double logit_of(const ScalingRule& rule, double score, double squared_q, double squared_k,
                std::int64_t d) {
  double logit = 0;
  apply_scaling(rule, {d, 8}, {{&score, 1}, {&squared_q, 1}, {&squared_k, 1}}, {&logit, 1});
  return logit;
}

TEST(Scaling, MultipliesByAPowerOfD) {
  for (const std::int64_t d : {1, 2, 3, 64, 144, 1024, 1 << 20}) {
    const auto size = static_cast<double>(d);
    for (const double power : {0.0, -1.0 / 3, -0.25, -0.5, -1.0, 0.7}) {
      const ScalingRule rule{.multiplier = -2, .d_power = power};
      const double expected = -2 * std::pow(size, power);
      EXPECT_NEAR(multiplier_at(rule, {d, 1}), expected, 4 * kRounding * std::abs(expected));
      EXPECT_EQ(needs_d(rule), power != 0);
    }
  }
}

TEST(Scaling, IsExactWhereItsRootIs) {
  for (const std::int64_t root : {1, 2, 3, 8, 10, 16, 128, 1000}) {
    const auto size = static_cast<double>(root);
    EXPECT_EQ(multiplier_at(find_scaling("div_sqrt_d")->rule, {root * root, 1}), 1 / size);
    EXPECT_EQ(multiplier_at(find_scaling("div_d")->rule, {root, 1}), 1 / size);
    EXPECT_EQ(multiplier_at(find_scaling("none")->rule, {root, 1}), 1);
  }
}

TEST(Scaling, MayWriteOverItsScores) {
  const ScalingRule rule{.multiplier = 3, .softcap = 10};
  std::array<double, 4> numbers{-3.5, 0, 1e-300, 77};
  std::array<double, 4> logits{};
  apply_scaling(rule, {4, 1}, {numbers}, logits);
  apply_scaling(rule, {4, 1}, {numbers}, numbers);
  EXPECT_EQ(numbers, logits);
  EXPECT_NEAR(logits[0], 10 * std::tanh(-1.05), 1e-14);
}

// -2^-26 and 3 are far below and far above the bend.
TEST(Scaling, BendsAtTheSoftcapAfterTheFactors) {
  const ScalingRule rule{.multiplier = 2, .d_power = -0.5, .softcap = 50};
  for (const double score : {-0x1p-26, 0.0, 3.0, 200.0, 1e6, -1e6}) {
    const double expected = 50 * std::tanh(2 * score / 8 / 50);
    EXPECT_NEAR(logit_of(rule, score), expected, 4 * kRounding * std::abs(expected)) << score;
  }
  EXPECT_EQ(logit_of(rule, 1e6), 50);
  // d logit / d score = multiplier / cosh^2.
  const double bend = std::cosh(2 * 200.0 / 8 / 50);
  EXPECT_NEAR(logit_per_score(rule, {64, 8}, logit_of(rule, 200)), 0.25 / (bend * bend), 1e-15);
  EXPECT_EQ(logit_per_score(rule, {64, 8}, 50), 0);
}

TEST(Scaling, TakesTheDThatItIsTold) {
  const ScalingRule rule{.d_power = -0.5, .d = 144};
  EXPECT_EQ(logit_of(rule, 24, {128, 8}), 2);
  EXPECT_FALSE(needs_d(rule));
  EXPECT_EQ(power_law(rule, 8).power, 0);
}

TEST(Scaling, CountsTheKeysInALogarithm) {
  EXPECT_EQ(logit_of({.log_keys = true}, 5, {64, 1}), 0);  // ln 1
  EXPECT_NEAR(logit_of({.log_keys = true}, 5, {64, 100}), 5 * std::log(100.0), 1e-14);
  const ScalingRule rule{.log_keys = true, .log_keys_base = 512};
  EXPECT_NEAR(logit_of(rule, 5, {64, 512}), 5, 1e-14);
  EXPECT_NEAR(logit_of(rule, 5, {64, 8}), 5.0 / 3, 1e-14);  // 512 = 8^3
}

// q = (3, 4), k = (0, 2): q.k = 8, |q| = 5, |k| = 2, cos = 0.8; rms(q).rms(k) = 2 cos.
TEST(Scaling, NormalisesQueriesAndKeys) {
  EXPECT_NEAR(logit_of({.norm = Norm::kCosine}, 8, 25, 4, 2), 0.8, 1e-15);
  EXPECT_NEAR(logit_of({.norm = Norm::kRms}, 8, 25, 4, 2), 1.6, 1e-15);
  EXPECT_NEAR(
      logit_of({.softcap = 2, .norm = Norm::kRms, .query_gain = 0.5, .key_gain = 3}, 8, 25, 4, 2),
      2 * std::tanh(1.2), 1e-15);
  EXPECT_EQ(logit_of({.norm = Norm::kRms}, 0, 0, 4, 2), 0);  // a query of zeros
  EXPECT_NEAR(logit_of({.norm = Norm::kCosine}, 8e300, 25e300, 4e300, 2), 0.8, 1e-15);
  EXPECT_TRUE(needs_d({.norm = Norm::kRms}));
  EXPECT_FALSE(needs_d({.norm = Norm::kCosine}));
}

// Lengths whose product is no double: at d = 1 keys of one sign still tie.
TEST(Scaling, CosinesOfSingleNumbersAreSigns) {
  for (double score = -7.3; score < 7; score += 0.37) {
    const double query = 1.7 * score * score;
    const double sign = score < 0 ? -1 : 1;
    EXPECT_EQ(logit_of({.norm = Norm::kCosine}, score, query, score * score / query, 1), sign);
    EXPECT_EQ(logit_of({.norm = Norm::kRms}, score, query, score * score / query, 1), sign);
  }
  EXPECT_EQ(logit_of({.norm = Norm::kCosine}, 0, 0, 4, 1), 0);
}

TEST(Scaling, LaysSquaredNormsOutAsScores) {
  const std::array<double, 4> scores{6, 6, 12, 12};  // two keys of two queries
  const std::array<double, 2> queries{4, 9};
  const std::array<double, 4> keys{9, 4, 36, 16};
  std::array<double, 4> logits{};
  apply_scaling({.norm = Norm::kCosine}, {4, 2}, {scores, queries, keys}, logits);
  const std::array<double, 4> cosines{1, 1, 1, 1};
  EXPECT_THAT(logits, Pointwise(testing::DoubleEq(), cosines));
}

// 65504 is float16's largest number; 70000 / 8 = 8750, which it holds as 8752 (steps of 8).
TEST(Scaling, OverflowsInHalfPrecisionUnlessTheFactorComesFirst) {
  ScalingRule rule{.d_power = -0.5, .weights = {.precision = Precision::kFloat16}};
  EXPECT_EQ(logit_of(rule, 70000), std::numeric_limits<double>::infinity());
  EXPECT_EQ(logit_of(rule, -70000), -std::numeric_limits<double>::infinity());
  rule.scale_order = ScaleOrder::kBefore;
  EXPECT_EQ(logit_of(rule, 70000), 8752);
  // The score is rounded too where the factor comes after: 2049 lies between 2048 and 2050.
  EXPECT_EQ(logit_of({.multiplier = 1, .weights = {.precision = Precision::kFloat16}}, 2049), 2048);
  // bfloat16 keeps 8 bits: in [64, 128) its numbers are 0.5 apart.
  EXPECT_EQ(logit_of({.weights = {.precision = Precision::kBfloat16}}, 100.3), 100.5);
}

TEST(Scaling, FormulaIsWrittenInFull) {
  EXPECT_EQ(formula(ScalingRule{}), "q.k");
  EXPECT_EQ(formula({.multiplier = 8, .d_power = -1}), "8 q.k / d");
  EXPECT_EQ(formula({.d_power = -0.25}), "q.k * d^-0.25");
  EXPECT_EQ(formula({.d_power = -0.5, .softcap = 50}), "50 tanh(q.k / sqrt(d) / 50)");
  EXPECT_EQ(formula({.d_power = -0.5, .d = 144}), "q.k / sqrt(144)");
  EXPECT_EQ(formula({.multiplier = 0.43, .d_power = -0.5, .log_keys = true}),
            "0.43 ln(keys) q.k / sqrt(d)");
  EXPECT_EQ(formula({.log_keys = true, .log_keys_base = 512}), "log_512(keys) q.k");
  EXPECT_EQ(formula({.norm = Norm::kRms, .query_gain = 0.5, .key_gain = 0.25}),
            "(0.5 rms(q)).(0.25 rms(k))");
  EXPECT_EQ(formula({.multiplier = 10, .norm = Norm::kCosine}), "10 cos(q, k)");
  EXPECT_EQ(formula({.weights = {.normaliser = {NormaliserKind::kSigmoid, -2}}}),
            "q.k; weight = sigmoid(logit - 2)");
  EXPECT_EQ(formula({.scale_order = ScaleOrder::kBefore,
                     .weights = {.precision = Precision::kFloat16, .max_shift = MaxShift::kNone}}),
            "q.k; in float16, scaled before the product, largest logit not subtracted");
}

TEST(ScalingChanges, FactorsMultiplyAndTheRestTakesItsPlace) {
  const ScalingRule start{.multiplier = 2, .d_power = -0.5, .softcap = 50, .query_gain = 3};
  const ScalingRule rule = changed(start, {.multiplier = 5,
                                           .d_power = -0.5,
                                           .softcap = 30,
                                           .gain = 2,
                                           .normaliser = NormaliserKind::kSink,
                                           .bias = 1});
  EXPECT_EQ(rule.multiplier, 10);
  EXPECT_EQ(rule.d_power, -1);
  EXPECT_EQ(rule.softcap, 30);
  EXPECT_EQ(rule.query_gain, 6);
  EXPECT_EQ(rule.key_gain, 2);
  EXPECT_EQ(rule.weights.normaliser, (Normaliser{NormaliserKind::kSink, 1}));
  EXPECT_EQ(changed(start, {.gain = 2, .key_gain = 7}).key_gain, 7);
  EXPECT_EQ(changed(start, {}), start);
}

// Factors of the score as the sources print them.
TEST(Preset, MultipliesAsItsSourceSays) {
  const auto factor = [](const Scaling& scaling, std::int64_t d, std::int64_t keys = 8) {
    return multiplier_at(scaling.rule, {d, keys});
  };
  EXPECT_EQ(factor(preset("granite3_8b"), 128), 1.0 / 128);
  EXPECT_NEAR(factor(preset("mup"), 64), factor(preset("div_sqrt_d"), 64), 1e-17);
  EXPECT_EQ(factor(preset("mutransformers", {8}), 64), 0.125);
  EXPECT_EQ(factor(preset("gpt_neo"), 64), 1);
  EXPECT_EQ(factor(preset("t5"), 64), 1);
  EXPECT_EQ(factor(preset("inverse_layer", {3}), 64), 1.0 / 32);
  EXPECT_NEAR(factor(preset("div_cbrt_d"), 1000), 0.1, 1e-16);
  // d^-1/4 twice is 1/sqrt(d).
  EXPECT_EQ(factor(preset("quarter_powers"), 100), factor(preset("div_sqrt_d"), 100));
  // Spread of unit entries under a wrong d: sqrt(128 / 144), sqrt(128 / 168).
  EXPECT_NEAR(factor(preset("gemma2_27b"), 128) * std::sqrt(128), 0.9428, 5e-5);
  EXPECT_NEAR(factor(preset("gemma3_27b"), 128) * std::sqrt(128), 0.8729, 5e-5);
  EXPECT_NEAR(factor(preset("grok1"), 128), 0.08838834764831845, 2e-17);
  EXPECT_NEAR(factor(preset("llama4", {8191}), 1), 1.0693, 5e-5);
  EXPECT_NEAR(factor(preset("llama4", {16383}), 1), 1.1099, 5e-5);
  EXPECT_NEAR(factor(preset("llama4", {131071}), 1), 1.2833, 5e-5);
  EXPECT_EQ(factor(preset("llama4", {8190}), 1), 1);
  EXPECT_NEAR(factor(preset("yarn", {2}), 1), 1.1434, 5e-5);
  EXPECT_NEAR(factor(preset("yarn", {4}), 1), 1.2965, 5e-5);
  EXPECT_NEAR(factor(preset("yarn", {32}), 1), 1.8133, 5e-5);
  EXPECT_NEAR(factor(preset("qknorm", {64}), 1), 11.98, 5e-3);
  EXPECT_NEAR(factor(preset("qknorm", {512}), 1), 18.00, 5e-3);
  EXPECT_NEAR(factor(preset("qknorm", {2048}), 1), 22.00, 5e-3);
  EXPECT_EQ(factor(preset("swin2", {0.1}), 64), 10);
  EXPECT_NEAR(factor(preset("ssmax", {0.43}), 16, 1024), 0.43 * std::log(1024.0) / 4, 1e-15);
  EXPECT_NEAR(factor(preset("log_512"), 16, 512), 0.25, 1e-15);
  EXPECT_NEAR(factor(preset("entropy_invariant", {16 / std::log(512.0)}), 16, 512), 1, 1e-15);
}

TEST(Preset, HasTheNormCapAndNormaliserOfItsSource) {
  EXPECT_EQ(preset("gemma2_27b").rule.softcap, 50);
  EXPECT_EQ(preset("grok1").rule.softcap, 30);
  for (const auto name : {"gemma3_27b", "gemma4", "qwen3"}) {
    EXPECT_EQ(preset(name).rule.norm, Norm::kRms) << name;
  }
  EXPECT_EQ(preset("qknorm", {64}).rule.norm, Norm::kCosine);
  EXPECT_EQ(preset("swin2", {0.1}).rule.norm, Norm::kCosine);
  const auto normaliser = [](const Scaling& scaling) { return scaling.rule.weights.normaliser; };
  EXPECT_EQ(normaliser(preset("softmax1")), (Normaliser{NormaliserKind::kSink, 0}));
  EXPECT_EQ(normaliser(preset("gpt_oss", {1.5})), (Normaliser{NormaliserKind::kSink, 1.5}));
  EXPECT_EQ(normaliser(preset("sigmoid", {-2})), (Normaliser{NormaliserKind::kSigmoid, -2}));
}

TEST(Preset, NamesItsSourceAndItsNumbers) {
  for (const ScalingRow& row : scaling_table()) {
    EXPECT_FALSE(row.source.empty()) << row.name;
    for (const ScalingParameter& parameter : row.parameters) {
      EXPECT_THAT(formula(row), HasSubstr(std::string(parameter.name))) << row.name;
      EXPECT_LT(parameter.least, parameter.most);
    }
    EXPECT_EQ(find_scaling(row.name).has_value(), row.parameters.empty()) << row.name;
  }
}

// The sink's logit and the sigmoid's bias stand behind the formula, all other parameters make the
// factor before it.
TEST(Preset, HasTheFormulaOfItsRule) {
  for (const ScalingRow& row : scaling_table()) {
    if (row.parameters.empty()) continue;
    const std::vector<double> numbers{9000};
    const std::string of_rule = formula(row.make(numbers));
    const std::string of_row = formula(row);
    if (row.make(numbers).multiplier == 1) {
      const std::size_t number = of_rule.find("9000");
      EXPECT_EQ(of_row.substr(0, number), of_rule.substr(0, number));
    } else {
      EXPECT_THAT(of_row, testing::EndsWith(of_rule.substr(of_rule.find(' ')))) << row.name;
    }
  }
}

TEST(RefusedScaling, IsNoScaling) {
  for (const auto name : {"qk_clip", "sigma_reparam", "norm_softmax", "u_mup"}) {
    ASSERT_NE(find_refused_scaling(name), nullptr) << name;
    EXPECT_EQ(find_scaling_row(name), nullptr) << name;
  }
  EXPECT_EQ(find_refused_scaling("div_d"), nullptr);
}

}  // namespace
}  // namespace attnscale
