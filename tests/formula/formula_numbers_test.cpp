// What formulas of public models give, against numbers computed from their papers and code.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "formula/parse.h"
#include "formula/program.h"

namespace attnscale {
namespace {

Formula logit(std::string_view text, const FormulaValues& values = {}) {
  std::vector<std::string_view> own;
  for (const auto& [name, value] : values) own.push_back(name);
  return with_values(parse_formula(text, FormulaKind::kLogit, own), values);
}

double number(std::string_view text, const FormulaValues& values = {}, FormulaSize size = {}) {
  std::vector<std::string_view> own;
  for (const auto& [name, value] : values) own.push_back(name);
  return value_of(with_values(parse_formula(text, FormulaKind::kNumber, own), values), size);
}

double factor(std::string_view text, const FormulaSize& size, const FormulaValues& values = {}) {
  return FormulaProgram(logit(text, values), size).factor().value();
}

TEST(FormulaNumbers, Grok2HasItsTemperatureAfterTheCap) {
  const FormulaProgram program(logit("t cap tanh(q.k / cap)", {{"t", 1.7}, {"cap", 30.0}}), {});
  EXPECT_NEAR(program.at(40), 44.373, 5e-4);
  EXPECT_NEAR(program.at(10), 16.397, 5e-4);
  const std::string_view t = "log2(max(position, 1024)) / log2(1024)";
  EXPECT_NEAR(number(t, {{"position", 1025.0}}), 1.00014, 5e-6);
  EXPECT_NEAR(number(t, {{"position", 8191.0}}), 1.29998, 5e-6);
  EXPECT_NEAR(number(t, {{"position", 131071.0}}), 1.70000, 5e-6);
}

TEST(FormulaNumbers, MinistralIsWarmerFarIntoTheText) {
  const std::string_view t = "1 + beta ln(1 + floor(position / length))";
  const auto at = [&](double position) {
    return number(t, {{"beta", 0.1}, {"length", 16384.0}, {"position", position}});
  };
  EXPECT_EQ(at(16383), 1.0);
  EXPECT_NEAR(at(16384), 1.069315, 5e-7);
  EXPECT_NEAR(at(131071), 1.207944, 5e-7);
  EXPECT_NEAR(at(262143), 1.277259, 5e-7);
}

TEST(FormulaNumbers, YarnSquaresItsScale) {
  const auto at = [](double times, double mscale) {
    return factor("(0.1 mscale ln(factor) + 1)^2 q.k", {}, {{"factor", times}, {"mscale", mscale}});
  };
  EXPECT_NEAR(at(40, 0.707), 1.589626, 5e-7);
  EXPECT_NEAR(at(40, 1), 1.873854, 5e-7);
  EXPECT_NEAR(at(32, 1), 1.813260, 5e-7);
  EXPECT_EQ(at(1, 1), 1.0);
}

// The query at position n sees n + 1 keys.
TEST(FormulaNumbers, QwensLogarithmHasAFloor) {
  const auto at = [](double position) {
    return factor("max(1, ln(keys) / ln(2048)) q.k", {.keys = position + 1});
  };
  EXPECT_EQ(at(100), 1.0);
  EXPECT_EQ(at(2047), 1.0);
  EXPECT_NEAR(at(4095), 1.090909, 5e-7);
  EXPECT_NEAR(at(8191), 1.181818, 5e-7);
  EXPECT_NEAR(at(32767), 1.363636, 5e-7);
}

TEST(FormulaNumbers, LongRopeScalesQueriesAndKeys) {
  const FormulaValues values{
      {"m", parse_formula("sqrt(1 + ln(32) / ln(4096))", FormulaKind::kNumber)}};
  EXPECT_NEAR(factor("(m q).(m k)", {}, values), 1.416667, 5e-7);
}

TEST(FormulaNumbers, FactorsAreWhatModelsCompute) {
  for (const double d : {1.0, 2.0, 64.0, 80.0, 128.0, 192.0, 1000003.0}) {
    const FormulaSize size{.d = d, .keys = 77};
    EXPECT_EQ(factor("q.k", size), 1);
    for (const auto* text : {"q.k / sqrt(d)", "d^-0.5 q.k", "q.k / d^0.5", "1/sqrt(d) q.k",
                             "(q / sqrt(d)).k", "(q / d^0.25).(k / d^0.25)", "q.k sqrt(d) / d"}) {
      EXPECT_EQ(factor(text, size), 1 / std::sqrt(d)) << text;
    }
    EXPECT_EQ(factor("q.k / d", size), 1 / d);
    EXPECT_EQ(factor("8 q.k / d", size), 8 / d);
    EXPECT_NEAR(factor("q.k / cbrt(d)", size) * std::cbrt(d), 1, 1e-15);
    EXPECT_NEAR(factor("ln(keys) / ln(512) q.k", size), std::log(77) / std::log(512), 1e-15);
  }
  EXPECT_EQ(factor("0.0078125 q.k", {.d = 64}), 0.0078125);
  EXPECT_EQ(factor("-q.k / sqrt(144)", {}), -1.0 / 12);
}

// Four equal scores; slope 1/2; the last query sees all.
TEST(FormulaNumbers, AlibiWeighsByDistance) {
  const FormulaProgram program(logit("q.k / sqrt(d) - slope (i - j)", {{"slope", 0.5}}),
                               {.d = 64, .keys = 4, .i = 3});
  const std::array<double, 4> scores{8, 8, 8, 8};
  std::array<double, 4> logits{};
  program.evaluate({.scores = scores}, Precision::kFloat64, logits);
  double sum = 0;
  for (const double x : logits) sum += std::exp(x);
  const std::array expected{.101536, .167405, .276004, .455054};
  for (std::size_t key = 0; key < 4; ++key) {
    EXPECT_EQ(logits[key], 1 - 0.5 * (3.0 - static_cast<double>(key)));
    EXPECT_NEAR(std::exp(logits[key]) / sum, expected[key], 5e-7);
  }
}

// Keys of several queries side by side, in chunks that end within a key.
TEST(FormulaNumbers, PlacesFollowTheLayoutOfScores) {
  constexpr std::size_t kQueries = 24;
  constexpr std::size_t kKeys = 40;
  const FormulaProgram program(logit("q.k + j"), {});
  std::vector<double> logits(kQueries * kKeys, 0.25);
  program.evaluate({.scores = logits, .stride = kQueries, .first_key = 100}, Precision::kFloat64,
                   logits);
  for (std::size_t n = 0; n < logits.size(); ++n) {
    EXPECT_EQ(logits[n], 100.25 + static_cast<double>(n / kQueries));
  }
}

struct Vectors {
  std::vector<double> q, k;

  double dot() const {
    double sum = 0;
    for (std::size_t i = 0; i < q.size(); ++i) sum += q[i] * k[i];
    return sum;
  }
  static double sum_of(const std::vector<double>& v, int power) {
    double sum = 0;
    for (const double x : v) sum += std::pow(x, power);
    return sum;
  }
};

// The logit of two vectors, and of what their rest adds to squared norms.
double logit_of(std::string_view text, const Vectors& v, double rest_q = 0, double rest_k = 0) {
  const double score = v.dot();
  const double q2 = Vectors::sum_of(v.q, 2) + rest_q;
  const double k2 = Vectors::sum_of(v.k, 2) + rest_k;
  const double q1 = Vectors::sum_of(v.q, 1);
  const double k1 = Vectors::sum_of(v.k, 1);
  double result = 0;
  FormulaProgram(logit(text), {.d = static_cast<double>(v.q.size())})
      .evaluate({{&score, 1}, 1, 0, {&q2, 1}, {&k2, 1}, {&q1, 1}, {&k1, 1}}, Precision::kFloat64,
                {&result, 1});
  return result;
}

TEST(FormulaNumbers, NormsDivideBothSides) {
  const Vectors v{{1, -2, 3, 0.5}, {0.25, 1, 2, -1}};
  const double lengths = std::sqrt(14.25 * 6.0625);
  EXPECT_NEAR(logit_of("cos(q, k)", v), 3.75 / lengths, 1e-15);
  EXPECT_NEAR(logit_of("unit(q).unit(k)", v), 3.75 / lengths, 1e-15);
  EXPECT_NEAR(logit_of("rms(q).rms(k)", v), 4 * 3.75 / lengths, 1e-14);
  EXPECT_NEAR(logit_of("(2 rms(q)).(3 rms(k)) / sqrt(d)", v), 12 * 3.75 / lengths, 1e-14);
  // Of projections of 16 and 8 entries, whose others have these squared norms.
  EXPECT_NEAR(logit_of("rms(q, 16).rms(k, 2 d)", v, 20, 5),
              3.75 * std::sqrt(16 / 34.25) * std::sqrt(8 / 11.0625), 1e-14);
  EXPECT_EQ(logit_of("cos(q, k)", {{0, 0}, {1, 2}}), 0);
}

TEST(FormulaNumbers, LayerNormTakesTheMeanAway) {
  const Vectors v{{1, -2, 3, 0.5}, {0.25, 1, 2, -1}};
  Vectors centred = v;
  for (double& x : centred.q) x -= 0.625;
  for (double& x : centred.k) x -= 0.5625;
  EXPECT_NEAR(logit_of("layer(q).layer(k)", v), logit_of("rms(q).rms(k)", centred), 1e-14);
  EXPECT_EQ(logit_of("layer(q).layer(k)", {{0.1, 0.1, 0.1}, {1, 2, 3}}), 0);
  EXPECT_EQ(logit_of("layer(q).layer(k)", {{0.3}, {0.7}}), 0);
}

}  // namespace
}  // namespace attnscale
