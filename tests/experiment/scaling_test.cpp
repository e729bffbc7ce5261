#include "experiment/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "formula/print.h"
#include "numerics/shortest.h"
#include "support/scalings.h"

namespace attnscale {
namespace {

using testing::HasSubstr;
using testing::Pointwise;

constexpr double kRounding = 0x1p-52;
constexpr FormulaSize kSize{64, 8, 7};

double logit_of(const Scaling& scaling, double score, const FormulaSize& size = kSize) {
  double logit = 0;
  FormulaProgram(scaling.logit, size)
      .evaluate({{&score, 1}}, scaling.weights.precision, {&logit, 1});
  return logit;
}

double logit_of(std::string_view text, double score, const FormulaSize& size = kSize) {
  return logit_of(logit_scaling("x", text), score, size);
}

// The logit of a score of queries and keys with these squared norms.
double logit_of(std::string_view text, double score, double squared_q, double squared_k, double d) {
  double logit = 0;
  FormulaProgram(logit_scaling("x", text).logit, {d, 8, 7})
      .evaluate({{&score, 1}, 1, 0, {&squared_q, 1}, {&squared_k, 1}}, Precision::kFloat64,
                {&logit, 1});
  return logit;
}

TEST(Scaling, MultipliesByAPowerOfD) {
  for (const double d : {1, 2, 3, 64, 144, 1024, 1 << 20}) {
    for (const double power : {0.0, -1.0 / 3, -0.25, -0.5, -1.0, 0.7}) {
      const Scaling scaling = logit_scaling("x", "-2 q.k * d^" + shortest(power));
      const double expected = -2 * std::pow(d, power);
      EXPECT_NEAR(factor_of(scaling, d), expected, 4 * kRounding * std::abs(expected));
      EXPECT_TRUE(needs_d(scaling.logit));
    }
  }
}

TEST(Scaling, IsExactWhereItsRootIs) {
  for (const double root : {1, 2, 3, 8, 10, 16, 128, 1000}) {
    EXPECT_EQ(factor_of(preset("div_sqrt_d"), root * root), 1 / root);
    EXPECT_EQ(factor_of(preset("div_d"), root), 1 / root);
    EXPECT_EQ(factor_of(preset("none"), root), 1);
  }
}

TEST(Scaling, MayWriteOverItsScores) {
  const FormulaProgram program(logit_scaling("x", "10 tanh(3 q.k / 10)").logit, {4, 1, 0});
  std::array<double, 4> numbers{-3.5, 0, 1e-300, 77};
  std::array<double, 4> logits{};
  program.evaluate({numbers}, Precision::kFloat64, logits);
  program.evaluate({numbers}, Precision::kFloat64, numbers);
  EXPECT_EQ(numbers, logits);
  EXPECT_NEAR(logits[0], 10 * std::tanh(-1.05), 1e-14);
}

// -2^-26 and 3 are far below and far above the bend.
TEST(Scaling, BendsAtTheSoftcapAfterTheFactors) {
  const char* const text = "50 tanh(2 q.k / sqrt(d) / 50)";
  for (const double score : {-0x1p-26, 0.0, 3.0, 200.0, 1e6, -1e6}) {
    const double expected = 50 * std::tanh(2 * score / 8 / 50);
    EXPECT_NEAR(logit_of(text, score), expected, 4 * kRounding * std::abs(expected)) << score;
  }
  EXPECT_EQ(logit_of(text, 1e6), 50);
}

TEST(Scaling, TakesTheDThatItIsTold) {
  EXPECT_EQ(logit_of("q.k / sqrt(144)", 24, {128, 8, 7}), 2);
  EXPECT_FALSE(needs_d(logit_scaling("x", "q.k / sqrt(144)").logit));
}

TEST(Scaling, CountsTheKeysInALogarithm) {
  EXPECT_EQ(logit_of("ln(keys) q.k", 5, {64, 1, 0}), 0);
  EXPECT_NEAR(logit_of("ln(keys) q.k", 5, {64, 100, 99}), 5 * std::log(100.0), 1e-14);
  EXPECT_NEAR(logit_of("ln(keys) / ln(512) * q.k", 5, {64, 512, 511}), 5, 1e-14);
  EXPECT_NEAR(logit_of("ln(keys) / ln(512) * q.k", 5, {64, 8, 7}), 5.0 / 3, 1e-14);  // 512 = 8^3
}

// q = (3, 4), k = (0, 2): q.k = 8, |q| = 5, |k| = 2, cos = 0.8; rms(q).rms(k) = 2 cos.
TEST(Scaling, NormalisesQueriesAndKeys) {
  EXPECT_NEAR(logit_of("cos(q, k)", 8, 25, 4, 2), 0.8, 1e-15);
  EXPECT_NEAR(logit_of("rms(q).rms(k)", 8, 25, 4, 2), 1.6, 1e-15);
  EXPECT_NEAR(logit_of("2 tanh((0.5 rms(q)).(3 rms(k)) / 2)", 8, 25, 4, 2), 2 * std::tanh(1.2),
              1e-15);
  EXPECT_EQ(logit_of("rms(q).rms(k)", 0, 0, 4, 2), 0);  // a query of zeros
  EXPECT_NEAR(logit_of("cos(q, k)", 8e300, 25e300, 4e300, 2), 0.8, 1e-15);
}

// Lengths whose product is no double: at d = 1 keys of one sign still tie.
TEST(Scaling, CosinesOfSingleNumbersAreSigns) {
  for (double score = -7.3; score < 7; score += 0.37) {
    const double query = 1.7 * score * score;
    const double sign = score < 0 ? -1 : 1;
    EXPECT_EQ(logit_of("cos(q, k)", score, query, score * score / query, 1), sign);
    EXPECT_EQ(logit_of("rms(q).rms(k)", score, query, score * score / query, 1), sign);
  }
  EXPECT_EQ(logit_of("cos(q, k)", 0, 0, 4, 1), 0);
}

TEST(Scaling, LaysSquaredNormsOutAsScores) {
  const std::array<double, 4> scores{6, 6, 12, 12};  // two keys of two queries
  const std::array<double, 2> queries{4, 9};
  const std::array<double, 4> keys{9, 4, 36, 16};
  std::array<double, 4> logits{};
  FormulaProgram(logit_scaling("x", "cos(q, k)").logit, {4, 2, 1})
      .evaluate({scores, 2, 0, queries, keys}, Precision::kFloat64, logits);
  const std::array<double, 4> cosines{1, 1, 1, 1};
  EXPECT_THAT(logits, Pointwise(testing::DoubleEq(), cosines));
}

// 65504 is float16's largest number; 70000 / 8 = 8750, which it holds as 8752 (steps of 8).
TEST(Scaling, OverflowsInHalfPrecisionUnlessTheFactorComesFirst) {
  const WeightRule half{.precision = Precision::kFloat16};
  const Scaling after = logit_scaling("x", "q.k / sqrt(d)", half);
  EXPECT_EQ(logit_of(after, 70000), std::numeric_limits<double>::infinity());
  EXPECT_EQ(logit_of(after, -70000), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(logit_of(logit_scaling("x", "(q / sqrt(d)).k", half), 70000), 8752);
  // The score is rounded too where the factor comes after: 2049 lies between 2048 and 2050.
  EXPECT_EQ(logit_of(logit_scaling("x", "q.k", half), 2049), 2048);
  // bfloat16 keeps 8 bits: in [64, 128) its numbers are 0.5 apart.
  EXPECT_EQ(logit_of(logit_scaling("x", "q.k", {.precision = Precision::kBfloat16}), 100.3), 100.5);
}

TEST(Scaling, FormulaIsWrittenInFull) {
  for (const char* text :
       {"q.k", "8 q.k / d", "50 tanh(q.k / sqrt(144) / 50)", "(0.5 rms(q)).(0.25 rms(k))"}) {
    EXPECT_EQ(formula(logit_scaling("x", text)), text);
  }
  EXPECT_EQ(formula(logit_scaling("x", "q.k", {.normaliser = {NormaliserKind::kSigmoid, -2}})),
            "q.k; weight = sigmoid(logit - 2)");
  EXPECT_EQ(formula(logit_scaling("x", "q.k", {.normaliser = {NormaliserKind::kSink, 1.5}})),
            "q.k; softmax with a sink of logit 1.5");
  EXPECT_EQ(
      formula(logit_scaling("x", "(q / d).k",
                            {.precision = Precision::kFloat16, .max_shift = MaxShift::kNone})),
      "(q / d).k; product, logit, exponential, weight in float16; sum in float32; largest logit "
      "not "
      "subtracted");
  PrecisionSteps steps;
  steps.exponential = Precision::kFloat8E5M2;
  steps.sum = Precision::kBfloat16;
  steps.sum_order = SumOrder::kTiles;
  steps.tile_keys = 32;
  EXPECT_EQ(formula(logit_scaling("x", "q.k", {.precision = steps})),
            "q.k; exponential in float8_e5m2; sum in bfloat16; summed in tiles of 32 keys");
  // Which sums nothing.
  EXPECT_EQ(formula(logit_scaling(
                "x", "q.k",
                {.normaliser = {NormaliserKind::kSigmoid, 0}, .precision = Precision::kTfloat32})),
            "q.k; weight = sigmoid(logit); product, logit, exponential, weight in tfloat32");
}

TEST(Scaling, PutsNumbersAndFormulasInForNames) {
  const std::array<std::string_view, 3> names{"t", "cap", "position"};
  const Formula written = parse_formula("t cap tanh(q.k / cap)", FormulaKind::kLogit, names);
  const Formula t = parse_formula("log2(position) / cap", FormulaKind::kNumber, names);
  const Scaling scaling =
      make_scaling("x", written, {{"t", t}, {"cap", 30.0}, {"position", 1024.0}});
  EXPECT_EQ(formula(scaling), "log2(1024) / 30 * 30 tanh(q.k / 30)");
  EXPECT_EQ(scaling.written, written);
  // What has no end is left, and so is what grows beyond all bounds.
  EXPECT_EQ(own_names(make_scaling("x", written, {{"t", t}, {"cap", t}, {"position", t}}).logit)[0],
            "position");
  FormulaValues chain;
  std::vector<std::string> links;
  for (int i = 0; i < 30; ++i) links.push_back("x" + std::to_string(i));
  const std::vector<std::string_view> known(links.begin(), links.end());
  for (std::size_t i = 0; i + 1 < links.size(); ++i) {
    chain.emplace_back(
        links[i], parse_formula(links[i + 1] + " " + links[i + 1], FormulaKind::kNumber, known));
  }
  chain.emplace_back(links.back(), 1.0);
  EXPECT_FALSE(
      own_names(make_scaling("x", parse_formula("x0 q.k", FormulaKind::kLogit, known), chain).logit)
          .empty());
}

// Factors of the score as the sources print them.
TEST(Preset, MultipliesAsItsSourceSays) {
  EXPECT_EQ(factor_of(preset("granite3_8b"), 128), 1.0 / 128);
  EXPECT_NEAR(factor_of(preset("mup"), 64), factor_of(preset("div_sqrt_d"), 64), 1e-17);
  EXPECT_EQ(factor_of(preset("mutransformers", {8}), 64), 0.125);
  EXPECT_EQ(factor_of(preset("gpt_neo"), 64), 1);
  EXPECT_EQ(factor_of(preset("t5"), 64), 1);
  EXPECT_EQ(factor_of(preset("inverse_layer", {3}), 64), 1.0 / 32);
  EXPECT_NEAR(factor_of(preset("div_cbrt_d"), 1000), 0.1, 1e-16);
  // d^-1/4 twice is 1/sqrt(d).
  EXPECT_EQ(factor_of(preset("quarter_powers"), 100), factor_of(preset("div_sqrt_d"), 100));
  // Spread of unit entries under a wrong d: sqrt(128 / 144), sqrt(128 / 168).
  EXPECT_NEAR(capped_logit(preset("gemma2_27b").logit, {128})->slope.at(128) * std::sqrt(128),
              0.9428, 5e-5);
  EXPECT_NEAR(factor_of(preset("gemma3_27b"), 128) * std::sqrt(128), 0.8729, 5e-5);
  EXPECT_NEAR(capped_logit(preset("grok1").logit, {128})->slope.at(128), 0.08838834764831845,
              2e-17);
  EXPECT_NEAR(factor_of(preset("llama4", {8191}), 1), 1.0693, 5e-5);
  EXPECT_NEAR(factor_of(preset("llama4", {16383}), 1), 1.1099, 5e-5);
  EXPECT_NEAR(factor_of(preset("llama4", {131071}), 1), 1.2833, 5e-5);
  EXPECT_EQ(factor_of(preset("llama4", {8190}), 1), 1);
  EXPECT_NEAR(factor_of(preset("yarn", {2}), 1), 1.1434, 5e-5);
  EXPECT_NEAR(factor_of(preset("yarn", {4}), 1), 1.2965, 5e-5);
  EXPECT_NEAR(factor_of(preset("yarn", {32}), 1), 1.8133, 5e-5);
  EXPECT_EQ(factor_of(preset("ministral3", {16383}), 1), 1);
  EXPECT_NEAR(factor_of(preset("ministral3", {16384}), 1), 1.069315, 5e-7);
  EXPECT_NEAR(factor_of(preset("ministral3", {131071}), 1), 1.207944, 5e-7);
  EXPECT_NEAR(factor_of(preset("ministral3", {262143}), 1), 1.277259, 5e-7);
  EXPECT_NEAR(factor_of(preset("deepseek_v2"), 1), 1.589626, 5e-7);
  EXPECT_NEAR(factor_of(preset("deepseek_v2_lite"), 1), 1.589626, 5e-7);
  EXPECT_NEAR(factor_of(preset("deepseek_v3"), 1), 1.873854, 5e-7);
  EXPECT_NEAR(factor_of(preset("kimi_k2"), 1), 1.813260, 5e-7);
  EXPECT_NEAR(factor_of(preset("phi3_128k"), 1), 1.416667, 5e-7);
  EXPECT_NEAR(factor_of(preset("falcon_h1", {0.390625}), 64), 0.390625 / 8, 1e-17);
  EXPECT_EQ(factor_of(preset("qwen1"), 1, 2047), 1);
  EXPECT_NEAR(factor_of(preset("qwen1"), 1, 4095), 1.090909, 1e-4);
  EXPECT_NEAR(factor_of(preset("qwen1"), 1, 8192), 1.181818, 5e-7);
  EXPECT_NEAR(factor_of(preset("qwen1"), 1, 32768), 1.363636, 5e-7);
  EXPECT_NEAR(factor_of(preset("granite3_2b"), 64), 1.0 / 64, 0);
  EXPECT_NEAR(factor_of(preset("qknorm", {64}), 1), 11.98, 5e-3);
  EXPECT_NEAR(factor_of(preset("qknorm", {512}), 1), 18.00, 5e-3);
  EXPECT_NEAR(factor_of(preset("qknorm", {2048}), 1), 22.00, 5e-3);
  EXPECT_EQ(factor_of(preset("swin2", {0.1}), 64), 10);
  EXPECT_NEAR(factor_of(preset("ssmax", {0.43}), 16, 1024), 0.43 * std::log(1024.0) / 4, 1e-15);
  EXPECT_NEAR(factor_of(preset("log_512"), 16, 512), 0.25, 1e-15);
  EXPECT_NEAR(factor_of(preset("entropy_invariant", {16 / std::log(512.0)}), 16, 512), 1, 1e-15);
}

// The temperature comes after the cap: sglang's issue 32942.
TEST(Preset, OfGrok2IsWarmerBehindItsCap) {
  const auto logit = [](double position, double score) {
    return FormulaProgram(preset("grok2", {position}).logit, {1}).at(score);
  };
  EXPECT_NEAR(logit(131071, 40), 44.373, 5e-4);
  EXPECT_NEAR(logit(131071, 10), 16.397, 5e-4);
  const double cold = logit(1024, 10);
  EXPECT_NEAR(logit(1025, 10) / cold, 1.00014, 5e-6);
  EXPECT_NEAR(logit(2047, 10) / cold, 1.09993, 5e-6);
  EXPECT_NEAR(logit(8191, 10) / cold, 1.29998, 5e-6);
  EXPECT_EQ(logit(7, 10), cold);
}

TEST(Preset, HasTheNormCapAndNormaliserOfItsSource) {
  EXPECT_EQ(capped_logit(preset("gemma2_27b").logit, {128})->cap->at(128), 50);
  EXPECT_EQ(capped_logit(preset("grok1").logit, {128})->cap->at(128), 30);
  const auto norm = [](const Scaling& scaling) {
    return FormulaProgram(scaling.logit, kSize).norm();
  };
  for (const auto* name : {"gemma3_27b", "gemma4", "qwen3"}) {
    EXPECT_EQ(norm(preset(name)), VectorNorm::kRms) << name;
  }
  EXPECT_EQ(norm(preset("qknorm", {64})), VectorNorm::kUnit);
  EXPECT_EQ(norm(preset("swin2", {0.1})), VectorNorm::kUnit);
  const auto normaliser = [](const Scaling& scaling) { return scaling.weights.normaliser; };
  EXPECT_EQ(normaliser(preset("softmax1")), (Normaliser{NormaliserKind::kSink, 0}));
  EXPECT_EQ(normaliser(preset("gpt_oss", {1.5})), (Normaliser{NormaliserKind::kSink, 1.5}));
  EXPECT_EQ(normaliser(preset("sigmoid", {-2})), (Normaliser{NormaliserKind::kSigmoid, -2}));
}

TEST(Preset, NamesItsSourceAndItsNumbers) {
  for (const PresetRow& row : preset_table()) {
    EXPECT_FALSE(row.source.empty()) << row.name;
    bool needs_number = false;
    std::vector<double> numbers;
    for (const PresetParameter& parameter : row.parameters()) {
      EXPECT_THAT(formula(row), HasSubstr(std::string(parameter.name))) << row.name;
      EXPECT_LT(parameter.least, parameter.most);
      needs_number = needs_number || parameter.is_required();
      numbers.push_back(parameter.is_required() ? parameter.most
                                                : std::stod(std::string(parameter.fallback)));
      EXPECT_GE(numbers.back(), parameter.least) << row.name;
      EXPECT_LE(numbers.back(), parameter.most) << row.name;
    }
    EXPECT_EQ(find_scaling(row.name).has_value(), !needs_number) << row.name;
    EXPECT_TRUE(own_names(scaling_of(row, numbers).logit).empty()) << row.name;
    // Its text is how its formula is printed.
    const std::string printed = print_formula(scaling_of(row, numbers).written);
    EXPECT_EQ(row.formula, printed) << row.name;
  }
}

TEST(RefusedScaling, IsNoScaling) {
  for (const auto* name : {"qk_clip", "sigma_reparam", "norm_softmax", "u_mup"}) {
    ASSERT_NE(find_refused_scaling(name), nullptr) << name;
    EXPECT_EQ(find_preset(name), nullptr) << name;
  }
  EXPECT_EQ(find_refused_scaling("div_d"), nullptr);
}

}  // namespace
}  // namespace attnscale
