#include "formula/facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "formula/derivative.h"
#include "formula/print.h"
#include "formula/program.h"
#include "formula/step_kernel.h"

namespace attnscale {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Range kUnknown{std::numeric_limits<double>::quiet_NaN(),
                         std::numeric_limits<double>::quiet_NaN()};

bool is_known(const Range& range) {
  return range.low <= range.high;
}

bool holds_zero(const Range& range) {
  return !(range.low > 0 || range.high < 0);
}

// 0 times what is beyond all numbers is 0: the ends of a range are not reached.
Range product(const Range& a, const Range& b) {
  const auto times = [](double x, double y) { return x == 0 || y == 0 ? 0 : x * y; };
  const auto [low, high] = std::minmax(
      {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)});
  return {low, high};
}

Range power(const Range& a, const Range& b) {
  const auto at = [](double x, double y) { return apply_step(Operation::kPower, x, y); };
  if (b.low != b.high) {
    if (a.low != a.high || !(a.low > 0)) return kUnknown;
    const auto [low, high] = std::minmax({at(a.low, b.low), at(a.low, b.high)});
    return {low, high};
  }
  const bool is_whole = std::floor(b.low) == b.low;
  if (holds_zero(a) && b.low < 0) return is_whole ? Range{-kInfinity, kInfinity} : kUnknown;
  if (a.low < 0 && !is_whole) return kUnknown;
  const auto [low, high] = std::minmax({at(a.low, b.low), at(a.high, b.low)});
  // An even power falls to 0 and rises again.
  const bool turns = a.low < 0 && a.high > 0 && std::floor(b.low / 2) * 2 == b.low;
  return {turns && b.low != 0 ? 0 : low, high};
}

Range combine(Operation operation, const Range& a, const Range& b) {
  if (!is_known(a) || !is_known(b)) return kUnknown;
  switch (operation) {
    case Operation::kNegate:
      return {-a.high, -a.low};
    case Operation::kSubtract:
      return {a.low - b.high, a.high - b.low};
    case Operation::kMultiply:
    case Operation::kDot:
      return product(a, b);
    case Operation::kDivide:
      if (holds_zero(b)) return {-kInfinity, kInfinity};
      return product(a, {1 / b.high, 1 / b.low});
    case Operation::kPower:
      return power(a, b);
    case Operation::kAbs:
      return {holds_zero(a) ? 0 : std::min(std::abs(a.low), std::abs(a.high)),
              std::max(std::abs(a.low), std::abs(a.high))};
    default:
      break;
  }
  if (!row_of(operation).rises) return a;  // a norm
  return {apply_step(operation, a.low, b.low), apply_step(operation, a.high, b.high)};
}

std::vector<Range> ranges_of(const Formula& formula, const FormulaSize& size) {
  const FormulaConstants constants = constants_of(formula, size);
  std::vector<Range> ranges;
  for (std::size_t place = 0; place < constants.size(); ++place) {
    if (constants[place]) {
      const double value = constants[place]->at(size.d);
      ranges.push_back({value, value});
    } else if (formula.operands(place) > 0) {
      ranges.push_back(combine(formula[place].operation, ranges[formula.first(place)],
                               ranges[formula.second(place)]));
    } else {
      const Operation leaf = formula[place].operation;
      // The score is the query, as it were, times 1; else the place j.
      ranges.push_back(leaf == Operation::kQuery ? Range{-kInfinity, kInfinity}
                       : leaf == Operation::kKey ? Range{1, 1}
                                                 : Range{0, size.keys - 1});
    }
  }
  return ranges;
}

// Whether an operation has all derivatives where its operands lie.
bool is_smooth_on(Operation operation, const Range& a, const Range& b) {
  constexpr std::array kKinked{Operation::kSign, Operation::kFloor, Operation::kCeil,
                               Operation::kMin, Operation::kMax};
  constexpr std::array kSingular{Operation::kSqrt, Operation::kCbrt,  Operation::kLn,
                                 Operation::kLog2, Operation::kLog10, Operation::kAbs};
  if (operation == Operation::kDivide) return !holds_zero(b);
  if (operation == Operation::kPower) {
    const bool is_whole = b.low == b.high && b.low >= 0 && std::floor(b.low) == b.low;
    return is_whole || a.low > 0;
  }
  if (std::ranges::find(kSingular, operation) != kSingular.end()) return !holds_zero(a);
  return std::ranges::find(kKinked, operation) == kKinked.end();
}

}  // namespace

bool needs_d(const Formula& formula) {
  for (std::size_t place = 0; place < formula.nodes().size(); ++place) {
    const Operation operation = formula[place].operation;
    if (operation == Operation::kLayer) return true;
    if (operation == Operation::kRms && formula.operands(place) == 1) return true;
  }
  return mentions(formula, "d");
}

Range range_of(const Formula& formula, const FormulaSize& size) {
  return ranges_of(formula, size).back();
}

int direction_of(const Formula& formula, const FormulaSize& size) {
  const Range slope = range_of(derivative(formula), size);
  if (slope.low >= 0) return 1;
  return slope.high <= 0 ? -1 : 0;
}

bool is_smooth(const Formula& formula, const FormulaSize& size) {
  const std::vector<Range> ranges = ranges_of(formula, size);
  const LinearParts linear = linear_parts(formula, constants_of(formula, size), size.d);
  for (std::size_t place = 0; place < ranges.size(); ++place) {
    if (formula.operands(place) == 0 || linear[place]) continue;
    if (!is_smooth_on(formula[place].operation, ranges[formula.first(place)],
                      ranges[formula.second(place)])) {
      return false;
    }
  }
  return true;
}

std::vector<std::string> rounded_parts(const Formula& formula) {
  std::vector<std::string> parts;
  const FormulaProgram program(formula, {});
  for (std::size_t step = 2; step < program.steps().size(); ++step) {
    if (!program.steps()[step].of_score) continue;
    parts.push_back(print_formula(formula.part(program.steps()[step].place)));
  }
  return parts;
}

}  // namespace attnscale
