// Random trees against plain arithmetic of the C++ library, which the room itself does not use.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "formula/derivative.h"
#include "formula/parse.h"
#include "formula/print.h"
#include "formula/program.h"

namespace attnscale {
namespace {

constexpr double kEpsilon = 0x1p-52;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr FormulaSize kSize{.d = 6, .keys = 11, .i = 9};
constexpr double kJ = 4;

class RandomFormula {
 public:
  explicit RandomFormula(std::uint64_t seed) : random_(seed) {}

  Formula logit() {
    constexpr std::array kNorms{Operation::kQuery, Operation::kRms, Operation::kUnit,
                                Operation::kLayer};
    return logit(kNorms[below(kNorms.size())]);
  }

  /// With that norm; kQuery: without one.
  Formula logit(Operation norm) {
    norm_ = norm;
    constexpr std::array kOuter{Operation::kAdd, Operation::kMultiply, Operation::kSubtract};
    return {kOuter[below(kOuter.size())], number(4), dot()};
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }

  Formula dot() { return {Operation::kDot, side(Operation::kQuery), side(Operation::kKey)}; }

  Formula side(Operation vector) {
    Formula normed{FormulaNode{vector}};
    if (norm_ != Operation::kQuery) normed = Formula(norm_, normed);
    switch (below(4)) {
      case 0:
        return {Operation::kMultiply, leaf(), normed};
      case 1:
        return {Operation::kDivide, normed, leaf()};
      case 2:
        return {Operation::kNegate, normed};
      default:
        return normed;
    }
  }

  Formula leaf() {
    constexpr std::array kNumbers{2.0, 0.5, 3.0, 0.1, 1.75, 7.0, 0.0078125};
    constexpr std::array kNames{"d", "keys", "i", "j", "e", "pi"};
    if (below(2) == 0) return kNumbers[below(kNumbers.size())];
    return Formula(FormulaNode{Operation::kName, 0, kNames[below(kNames.size())]});
  }

  Formula number(int depth) {
    if (depth == 0) return below(2) == 0 ? leaf() : dot();
    const auto pick = static_cast<Operation>(static_cast<std::size_t>(Operation::kNegate) +
                                             below(static_cast<std::size_t>(Operation::kClamp) -
                                                   static_cast<std::size_t>(Operation::kNegate)));
    if (row_of(pick).least == 1) return {pick, number(depth - 1)};
    return {pick, number(depth - 1), number(depth - 1)};
  }

  std::mt19937_64 random_;
  Operation norm_ = Operation::kQuery;
};

/// A number and how far rounding may have moved it.
struct Rounded {
  double value;
  double error;
};

// Of a function with that derivative, each of whose evaluations may be some roundings off.
Rounded through(double value, double slope, const Rounded& a) {
  return {value, std::abs(slope) * a.error + 8 * kEpsilon * std::abs(value)};
}

Rounded stepped(double value, const Rounded& a, double distance) {
  return {value, a.error < distance ? 0 : kInfinity};
}

Rounded plain_power(const Rounded& a, const Rounded& b) {
  const double value = std::pow(a.value, b.value);
  const double log = std::log(std::abs(a.value));
  const double relative = std::abs(b.value) * a.error / std::abs(a.value) +
                          std::abs(log) * b.error + 8 * kEpsilon * (1 + std::abs(b.value * log));
  // An exponent that is a whole number by chance, or a base next to 0, decides all.
  const bool is_fragile = (a.value <= a.error && b.error > 0) || std::abs(a.value) <= a.error;
  return {value, is_fragile ? kInfinity : std::abs(value) * relative};
}

Rounded plain_value(const Formula& formula, std::size_t place, double score) {
  const FormulaNode& node = formula[place];
  if (node.operation == Operation::kNumber) return {node.number, 0};
  if (node.operation == Operation::kQuery) return {score, 0};
  if (node.operation == Operation::kKey) return {1, 0};
  if (node.operation == Operation::kName) {
    if (node.name == "d") return {kSize.d, 0};
    if (node.name == "keys") return {kSize.keys, 0};
    if (node.name == "i") return {kSize.i, 0};
    if (node.name == "j") return {kJ, 0};
    return {node.name == "e" ? std::exp(1.0) : std::acos(-1.0), 0};
  }
  const Rounded a = plain_value(formula, formula.first(place), score);
  const Rounded b = plain_value(formula, formula.second(place), score);
  const double x = a.value;
  const double y = b.value;
  if (std::isnan(x) || std::isnan(y)) return {x + y, kInfinity};
  const auto with = [](double value, double error) {
    return Rounded{value, error + 4 * kEpsilon * std::abs(value)};
  };
  switch (node.operation) {
    case Operation::kNegate:
      return {-x, a.error};
    case Operation::kAdd:
      return with(x + y, a.error + b.error);
    case Operation::kSubtract:
      return with(x - y, a.error + b.error);
    case Operation::kMultiply:
    case Operation::kDot:
      return with(x * y, std::abs(x) * b.error + std::abs(y) * a.error);
    case Operation::kDivide:
      if (std::abs(y) <= 2 * b.error) return {x / y, kInfinity};
      return with(x / y, 2 * (a.error + std::abs(x / y) * b.error) / std::abs(y));
    case Operation::kPower:
      return plain_power(a, b);
    case Operation::kSqrt:
      return through(std::sqrt(x), x > 2 * a.error ? 1 / std::sqrt(x) : kInfinity, a);
    case Operation::kCbrt:
      return through(std::cbrt(x), std::abs(x) > 2 * a.error ? 1 / std::cbrt(x * x) : kInfinity, a);
    case Operation::kExp:
      return through(std::exp(x), 2 * std::exp(x) + std::abs(x) * kEpsilon, a);
    case Operation::kLn:
      return through(std::log(x), x > 2 * a.error ? 2 / x : kInfinity, a);
    case Operation::kLog2:
      return through(std::log2(x), x > 2 * a.error ? 3 / x : kInfinity, a);
    case Operation::kLog10:
      return through(std::log10(x), x > 2 * a.error ? 1 / x : kInfinity, a);
    case Operation::kTanh:
      return through(std::tanh(x), 1, a);
    case Operation::kAbs:
      return {std::abs(x), a.error};
    case Operation::kSign:
      return stepped(x > 0 ? 1 : x < 0 ? -1 : 0, a, a.error == 0 ? 1 : std::abs(x));
    case Operation::kFloor:
      return stepped(std::floor(x), a, a.error == 0 ? 1 : std::abs(x - std::round(x)));
    case Operation::kCeil:
      return stepped(std::ceil(x), a, a.error == 0 ? 1 : std::abs(x - std::round(x)));
    case Operation::kMin:
      return {std::min(x, y), std::max(a.error, b.error)};
    case Operation::kMax:
      return {std::max(x, y), std::max(a.error, b.error)};
    default:  // a norm
      return a;
  }
}

TEST(RandomFormula, ReadsBackAsTheSameTree) {
  RandomFormula random(1);
  for (int round = 0; round < 20000; ++round) {
    const Formula formula = random.logit();
    const std::string text = print_formula(formula);
    if (text.size() > 2000) continue;
    ASSERT_EQ(parse_formula(text, FormulaKind::kLogit), formula) << text;
  }
}

TEST(RandomFormula, EvaluatesAsPlainArithmeticDoes) {
  RandomFormula random(2);
  int compared = 0;
  for (int round = 0; round < 20000; ++round) {
    const Formula formula = random.logit();
    const FormulaProgram program(formula, kSize);
    for (const double score : {-7.25, -1.0, 0.3, 2.0, 40.0}) {
      const Rounded expected = plain_value(formula, formula.root(), score);
      const bool is_far =
          !(std::abs(expected.value) < 1e200) || !(std::abs(expected.value) > 1e-200);
      if (is_far || !(expected.error < 1e-3 * std::abs(expected.value))) continue;
      ++compared;
      ASSERT_NEAR(program.at(score, kJ), expected.value, 4 * expected.error)
          << print_formula(formula) << " at " << score;
      if (!program.factor()) continue;
      ASSERT_NEAR(*program.factor() * score, expected.value, 4 * expected.error)
          << print_formula(formula);
    }
  }
  EXPECT_GT(compared, 30000);
}

// The largest step on the way to a logit.
double peak(const FormulaProgram& program, double score) {
  double logit = 0;
  double peak = 0;
  program.evaluate({.scores = {&score, 1}, .first_key = kJ}, Precision::kFloat64, {&logit, 1},
                   {&peak, 1});
  return peak;
}

// Where differences of two widths agree there is no kink between; many steps would look smooth.
TEST(RandomFormula, DerivativesAreWhatDifferencesAre) {
  RandomFormula random(3);
  int compared = 0;
  for (int round = 0; round < 20000; ++round) {
    const Formula formula = random.logit(Operation::kQuery);
    const bool has_steps = std::ranges::any_of(formula.nodes(), [](const FormulaNode& node) {
      return node.operation == Operation::kFloor || node.operation == Operation::kCeil;
    });
    if (has_steps) continue;
    const FormulaProgram program(formula, kSize);
    const Formula slope_formula = derivative(formula);
    const FormulaProgram slope(slope_formula, kSize);
    for (const double score : {-7.2519, -1.0137, 0.3171, 2.0293, 41.317}) {
      const double width = 1e-4 * std::abs(score);
      const auto difference = [&](double h) {
        return (program.at(score + h, kJ) - program.at(score - h, kJ)) / (2 * h);
      };
      const double wide = difference(width);
      const double narrow = difference(width / 2);
      const double noise = plain_value(formula, formula.root(), score).error / width;
      if (!(std::abs(wide - narrow) < 1e-5 * std::abs(wide)) || !(noise < 1e-5 * std::abs(wide)) ||
          !(std::abs(wide) < 1e100) || !(peak(program, score) < 1e100)) {
        continue;
      }
      if (!(plain_value(slope_formula, slope_formula.root(), score).error <
            1e-5 * std::abs(wide))) {
        continue;
      }
      ++compared;
      ASSERT_NEAR(slope.at(score, kJ), narrow, 1e-4 * std::abs(narrow))
          << print_formula(formula) << "; " << print_formula(slope_formula) << " at " << score;
    }
  }
  EXPECT_GT(compared, 15000);
}

}  // namespace
}  // namespace attnscale
