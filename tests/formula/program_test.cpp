#include "formula/program.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "formula/derivative.h"
#include "formula/parse.h"
#include "formula/print.h"
#include "formula/step_kernel.h"
#include "numerics/portable_math.h"

namespace attnscale {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Formula logit(std::string_view text) {
  return parse_formula(text, FormulaKind::kLogit);
}

double logit_of(std::string_view text, double score, const PrecisionSteps& precision,
                double d = 64) {
  double result = 0;
  FormulaProgram(logit(text), {.d = d}).evaluate({.scores = {&score, 1}}, precision, {&result, 1});
  return result;
}

TEST(FormulaProgram, KnowsThePowerOfDInItsFactor) {
  const auto power_law = [](std::string_view text) {
    return FormulaProgram(logit(text), {.d = 7, .keys = 5}).linear().value().slope;
  };
  EXPECT_EQ(power_law("3 q.k / sqrt(d)"), (PowerOfD{3, -0.5}));
  EXPECT_EQ(power_law("(q / d^0.25).(k / d^0.25)"), (PowerOfD{1, -0.5}));
  EXPECT_EQ(power_law("q.k / cbrt(d)"), (PowerOfD{1, -1.0 / 3}));
  EXPECT_EQ(power_law("sqrt(4 d) q.k / d + q.k / sqrt(d)"), (PowerOfD{3, -0.5}));
  EXPECT_EQ(power_law("2^0.5 rms(q).rms(k)"), (PowerOfD{std::sqrt(2.0), 0}));
  EXPECT_EQ(power_law("max(1, keys / 2) q.k"), (PowerOfD{2.5, 0}));
  // No powers of d, though at d = 7 they are these numbers.
  EXPECT_EQ(power_law("(d + 1) q.k"), (PowerOfD{8, 0, false}));
  EXPECT_EQ(power_law("max(1, d / 100) q.k"), (PowerOfD{1, 0, false}));
  EXPECT_EQ(power_law("(d - 7) q.k"), (PowerOfD{0, 0, false}));
}

TEST(FormulaProgram, KnowsWhatIsLinear) {
  const auto program = [](std::string_view text) { return FormulaProgram(logit(text), {.d = 4}); };
  for (const auto* text : {"q.k", "(2 q).(k / d) / 3", "q.k - q.k / 2", "-(-q.k) ln(keys)"}) {
    EXPECT_TRUE(program(text).factor()) << text;
  }
  for (const auto* text : {"q.k + 1", "q.k / 2 - 3 (i - j)", "q.k + ln(1 + j)"}) {
    EXPECT_FALSE(program(text).factor()) << text;
    EXPECT_TRUE(program(text).linear()) << text;
  }
  for (const auto* text : {"tanh(q.k)", "q.k q.k", "abs(q.k)", "1 / q.k", "j q.k", "(j q).k"}) {
    EXPECT_FALSE(program(text).linear()) << text;
  }
}

TEST(FormulaProgram, KnowsWhatIsNotFinite) {
  EXPECT_FALSE(FormulaProgram(logit("q.k / ln(keys)"), {.keys = 1}).is_finite());
  EXPECT_TRUE(FormulaProgram(logit("q.k / ln(keys)"), {.keys = 2}).is_finite());
  EXPECT_FALSE(FormulaProgram(logit("tanh(q.k) sqrt(-1)"), {}).is_finite());
  EXPECT_FALSE(FormulaProgram(logit("1e200 q.k 1e200"), {}).is_finite());
}

// As each step of hardware of that precision does it.
TEST(FormulaProgram, RoundsEachStep) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 100);
  for (const Precision precision :
       {Precision::kFloat64, Precision::kFloat32, Precision::kBfloat16, Precision::kFloat16}) {
    const auto r = [&](double x) { return round_to(precision, x); };
    for (int round = 0; round < 200; ++round) {
      const double s = normal(random);
      const double root = 1 / std::sqrt(80.0);
      EXPECT_EQ(logit_of("q.k", s, precision), r(s));
      EXPECT_EQ(logit_of("1.7 q.k / sqrt(d)", s, precision, 80), r(r(s) * (1.7 * root)));
      EXPECT_EQ(logit_of("(q / sqrt(d)).k", s, precision, 80), r(s * root));
      EXPECT_EQ(logit_of("q.k / sqrt(d) - 0.3 (7 - j)", s, precision, 80),
                r(r(r(s) * root) - 0.3 * 7));
      const double bent = r(plain::tanh(r(r(r(s) * root) / 5)));
      EXPECT_EQ(logit_of("5 tanh(q.k / sqrt(d) / 5)", s, precision, 80), r(5 * bent));
      EXPECT_EQ(logit_of("1.7 * 5 tanh(q.k / sqrt(d) / 5)", s, precision, 80), r((1.7 * 5) * bent));
    }
  }
  // The product by itself, and the logit even where it is the product.
  PrecisionSteps steps;
  steps.product = Precision::kFloat16;
  steps.logit = Precision::kFloat8E5M2;
  EXPECT_EQ(logit_of("q.k", 1.1251, steps), 1);  // 1.125 in float16, then the even of a tie
  EXPECT_EQ(logit_of("3 q.k", 1.1251, steps), 3.5);
  EXPECT_EQ(logit_of("(2 q).k", 0.56255, steps), 1);
  // The parts that are rounded, in the order of evaluation.
  const auto rounded_parts = [](const Formula& formula) {
    const FormulaProgram program(formula, {});
    std::vector<std::string> parts;
    for (const FormulaStep& step : program.steps()) {
      const bool is_score = &step == &program.steps().front();
      if (step.of_score && !is_score) parts.push_back(print_formula(formula.part(step.place)));
    }
    return parts;
  };
  EXPECT_EQ(
      rounded_parts(logit("30 tanh((q / sqrt(d)).k / 30)")),
      (std::vector<std::string>{"(q / sqrt(d)).k", "(q / sqrt(d)).k / 30",
                                "tanh((q / sqrt(d)).k / 30)", "30 tanh((q / sqrt(d)).k / 30)"}));
  EXPECT_EQ(rounded_parts(logit("2 q.k / sqrt(d) - 0.5 (i - j)")),
            (std::vector<std::string>{"q.k", "2 q.k / sqrt(d)", "2 q.k / sqrt(d) - 0.5 (i - j)"}));
}

TEST(FormulaProgram, ShowsAnOverflowThatACapHides) {
  const FormulaProgram program(logit("30 tanh(2 q.k / sqrt(d) / 30)"), {});
  const std::array<double, 3> scores{10, 40000, -70000};
  std::array<double, 3> logits{};
  std::array<double, 3> peaks{};
  program.evaluate({.scores = scores}, Precision::kFloat16, logits, peaks);
  EXPECT_EQ(logits[1], 30);
  EXPECT_EQ(logits[2], -30);
  EXPECT_EQ(peaks[0], 20);
  EXPECT_EQ(peaks[1], kInfinity);
  EXPECT_EQ(peaks[2], kInfinity);
}

TEST(FormulaProgram, MayWriteOverItsScores) {
  const FormulaProgram program(logit("tanh(q.k) + q.k^3 - j"), {});
  std::vector<double> numbers(1000);
  for (std::size_t n = 0; n < numbers.size(); ++n) numbers[n] = 0.01 * static_cast<double>(n) - 5;
  std::vector<double> apart(numbers.size());
  program.evaluate({.scores = numbers, .stride = 8}, Precision::kFloat64, apart);
  program.evaluate({.scores = numbers, .stride = 8}, Precision::kFloat64, numbers);
  EXPECT_EQ(numbers, apart);
}

// One number at a time is a scalar loop's tail, many are vectors.
TEST(StepKernel, GivesTheSameBitsInVectors) {
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal(0, 20);
  std::vector<double> a(997);
  std::vector<double> b(a.size());
  for (std::size_t n = 0; n < a.size(); ++n) {
    a[n] = normal(random);
    b[n] = n % 3 == 0 ? std::round(normal(random)) : normal(random);
  }
  const std::array special{0.0, -0.0, kInfinity, -kInfinity, 1e-310, 710.0, -710.0, 27.0, 1e300};
  std::copy(special.begin(), special.end(), a.begin());
  for (const OperationRow& row : operation_table()) {
    const bool is_vector_row = row.operation >= Operation::kClamp;
    if (row.operation < Operation::kNegate || is_vector_row) continue;
    std::vector<double> out(a.size());
    apply_step(row.operation, a.data(), b.data(), out.data(), out.size());
    for (std::size_t n = 0; n < a.size(); ++n) {
      const double one = apply_step(row.operation, a[n], b[n]);
      ASSERT_TRUE(one == out[n] || (std::isnan(one) && std::isnan(out[n])))
          << row.name << " of " << a[n] << ", " << b[n];
    }
  }
}

TEST(StepKernel, IsRightAtTheEnds) {
  const auto at = [](Operation operation, double x, double y = 0) {
    return apply_step(operation, x, y);
  };
  EXPECT_EQ(at(Operation::kExp, -1000), 0);
  EXPECT_EQ(at(Operation::kExp, 1000), kInfinity);
  EXPECT_EQ(at(Operation::kLn, 0), -kInfinity);
  EXPECT_EQ(at(Operation::kLn, kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(at(Operation::kLn, -1)));
  EXPECT_EQ(at(Operation::kCbrt, -27), -3);
  EXPECT_EQ(at(Operation::kCbrt, 0), 0);
  EXPECT_EQ(at(Operation::kCbrt, kInfinity), kInfinity);
  EXPECT_EQ(at(Operation::kPower, 0, 3), 0);
  EXPECT_EQ(at(Operation::kPower, 0, 0), 1);
  EXPECT_NEAR(at(Operation::kPower, -2, 3), -8, 1e-14);
  EXPECT_NEAR(at(Operation::kPower, -2, 4), 16, 1e-13);
  EXPECT_TRUE(std::isnan(at(Operation::kPower, -2, 0.5)));
  EXPECT_EQ(at(Operation::kSign, -3), -1);
  EXPECT_EQ(at(Operation::kTanh, 1e9), 1);
}

TEST(Derivative, IsSimplified) {
  const std::vector<std::pair<const char*, const char*>> kSlopes{
      {"q.k", "1"},
      {"q.k / sqrt(d) - 0.5 (i - j)", "1 / sqrt(d)"},
      {"(2 q).(k / d)", "2 (1 / d)"},
      {"tanh(q.k)", "(1 - tanh(q.k)) (1 + tanh(q.k))"},
      {"exp(q.k) + 3", "exp(q.k)"},
      {"q.k^2", "2 q.k"},
      {"-cos(q, k)", "-1"},
      {"floor(q.k)", "0"},
      {"max(q.k, 0)", "(1 + sign(q.k)) / 2"},
  };
  for (const auto& [text, slope] : kSlopes) {
    EXPECT_EQ(print_formula(derivative(logit(text))), slope) << text;
  }
}

// A saturated cap lets nothing through, and its slope is good to roundings next to that.
TEST(Derivative, KeepsItsDigitsUnderACap) {
  const FormulaProgram slope(derivative(logit("30 tanh(q.k / 30)")), {});
  const double x = 7.0;
  EXPECT_NEAR(slope.at(30 * x) * std::cosh(x) * std::cosh(x), 1, 1e-9);
  EXPECT_EQ(slope.at(3000), 0);
}

TEST(CappedLogit, IsAMultipleOfTheScoreOrABendOfOne) {
  struct Case {
    const char* text;
    double slope;
    double cap;  // 0 for none
  };
  for (const auto& [text, slope, cap] : {
           Case{"q.k / sqrt(d)", 0.125, 0},
           Case{"-2 q.k", -2, 0},
           Case{"50 tanh(q.k / 50)", 1, 50},
           Case{"1.7 * 30 tanh(q.k / sqrt(d) / 30)", 1.7 / 8, 51},
           Case{"-tanh(3 q.k) / 4", -0.75, 0.25},
           Case{"tanh(q.k) ln(keys)", std::log(8.0), std::log(8.0)},
           Case{"(2 q).k + 3 q.k", 5, 0},
       }) {
    const auto found = capped_logit(logit(text), {.d = 64, .keys = 8});
    ASSERT_TRUE(found) << text;
    EXPECT_NEAR(found->slope.at(64), slope, 1e-15) << text;
    EXPECT_NEAR(found->cap ? found->cap->at(64) : 0, cap, 1e-14) << text;
  }
  for (const auto* text : {"q.k - 1", "q.k^2", "tanh(q.k + 1)", "0 tanh(q.k)", "j q.k",
                           "tanh(q.k) + q.k", "tanh(tanh(q.k))", "max(q.k, 0)", "j tanh(q.k)"}) {
    EXPECT_FALSE(capped_logit(logit(text), {.d = 64, .keys = 8})) << text;
  }
}

TEST(Formula, KnowsWhatItNeeds) {
  for (const auto* text : {"q.k / d", "rms(q).rms(k)", "layer(q).layer(k)"}) {
    EXPECT_TRUE(needs_d(logit(text))) << text;
  }
  for (const auto* text : {"q.k", "cos(q, k)", "rms(q, 8).rms(k, 8)"}) {
    EXPECT_FALSE(needs_d(logit(text))) << text;
  }
  EXPECT_EQ(FormulaProgram(logit("rms(q, 8).rms(k, 2 d) / 2"), {.d = 3}).key_width(), 6);
  EXPECT_EQ(FormulaProgram(logit("layer(q).layer(k)"), {}).norm(), VectorNorm::kLayer);
}

}  // namespace
}  // namespace attnscale
