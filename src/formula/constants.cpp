#include "formula/constants.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "formula/step_kernel.h"
#include "numerics/double_double.h"
#include "numerics/portable_math.h"

namespace attnscale {
namespace {

double power_of(double x, double power) {
  if (power == 0) return 1;
  if (power == 1) return x;
  if (power == 2) return x * x;
  if (power == 0.5) return std::sqrt(x);
  if (power == -0.5) return 1 / std::sqrt(x);
  if (power == -1) return 1 / x;
  return plain::power(x, power);
}

PowerOfD operator*(const PowerOfD& a, const PowerOfD& b) {
  return {a.multiplier * b.multiplier, a.power + b.power, a.for_all_d && b.for_all_d};
}

PowerOfD reciprocal(const PowerOfD& a) {
  return {1 / a.multiplier, -a.power, a.for_all_d};
}

PowerOfD negated(const PowerOfD& a) {
  return {-a.multiplier, a.power, a.for_all_d};
}

bool is_zero(const PowerOfD& a) {
  return a.multiplier == 0 && a.for_all_d;
}

PowerOfD at_one_d(Operation operation, const PowerOfD& a, const PowerOfD& b, double d) {
  const double x = a.at(d);
  const double y = b.at(d);
  const double value =
      operation == Operation::kPower ? power_of(x, y) : apply_step(operation, x, y);
  return {value, 0, a.for_all_d && b.for_all_d && a.power == 0 && b.power == 0};
}

PowerOfD sum(const PowerOfD& a, const PowerOfD& b, double d) {
  if (is_zero(a)) return b;
  if (is_zero(b)) return a;
  if (a.power != b.power) return at_one_d(Operation::kAdd, a, b, d);
  return {a.multiplier + b.multiplier, a.power, a.for_all_d && b.for_all_d};
}

PowerOfD combine(Operation operation, const PowerOfD& a, const PowerOfD& b, double d) {
  switch (operation) {
    case Operation::kNegate:
      return negated(a);
    case Operation::kAdd:
      return sum(a, b, d);
    case Operation::kSubtract:
      return sum(a, negated(b), d);
    case Operation::kMultiply:
      return a * b;
    case Operation::kDivide:
      return {a.multiplier / b.multiplier, a.power - b.power, a.for_all_d && b.for_all_d};
    case Operation::kSqrt:
      return {std::sqrt(a.multiplier), a.power / 2, a.for_all_d};
    case Operation::kCbrt:
      return {apply_step(operation, a.multiplier), a.power / 3, a.for_all_d};
    case Operation::kPower:
      if (b.power != 0 || !b.for_all_d) break;
      return {power_of(a.multiplier, b.multiplier), a.power * b.multiplier, a.for_all_d};
    default:
      break;
  }
  return at_one_d(operation, a, b, d);
}

// NaN of a name that was given no value.
std::optional<PowerOfD> leaf(const FormulaNode& node, const FormulaSize& size) {
  if (node.operation == Operation::kNumber) return PowerOfD{node.number};
  if (node.operation != Operation::kName || node.name == "j") return std::nullopt;
  if (node.name == "d") return PowerOfD{1, 1};
  if (node.name == "keys") return PowerOfD{size.keys};
  if (node.name == "i") return PowerOfD{size.i};
  if (node.name == "e") return PowerOfD{std::numbers::e};
  return PowerOfD{node.name == "pi" ? std::numbers::pi : kNan};
}

using Constant = const std::optional<PowerOfD>&;

std::optional<LinearPart> linear(Operation operation, const LinearPart& a, const LinearPart& b,
                                 Constant constant_a, Constant constant_b, double d) {
  const bool has_offset = a.has_offset || b.has_offset;
  switch (operation) {
    case Operation::kNegate:
      return LinearPart{negated(a.slope), a.has_offset};
    case Operation::kAdd:
      return LinearPart{sum(a.slope, b.slope, d), has_offset};
    case Operation::kSubtract:
      return LinearPart{sum(a.slope, negated(b.slope), d), has_offset};
    case Operation::kMultiply:
      if (constant_a) return LinearPart{*constant_a * b.slope, b.has_offset};
      if (constant_b) return LinearPart{a.slope * *constant_b, a.has_offset};
      break;
    case Operation::kDivide:
      if (constant_b) return LinearPart{a.slope * reciprocal(*constant_b), a.has_offset};
      break;
    case Operation::kDot:
      return LinearPart{a.slope * b.slope};
    default:
      if (is_vector(operation)) return a;
  }
  if (!is_zero(a.slope) || !is_zero(b.slope)) return std::nullopt;
  return LinearPart{{0}, true};
}

}  // namespace

double PowerOfD::at(double d) const {
  return power == 0 ? multiplier : multiplier * power_of(d, power);
}

FormulaConstants constants_of(const Formula& formula, const FormulaSize& size) {
  FormulaConstants constants(formula.nodes().size());
  for (std::size_t place = 0; place < constants.size(); ++place) {
    const Operation operation = formula[place].operation;
    if (formula.operands(place) == 0) {
      constants[place] = leaf(formula[place], size);
      continue;
    }
    Constant a = constants[formula.first(place)];
    Constant b = constants[formula.second(place)];
    if (a && b) constants[place] = combine(operation, *a, *b, size.d);
  }
  return constants;
}

double value_of(const Formula& formula, const FormulaSize& size) {
  const auto constant = constants_of(formula, size).back();
  return constant ? constant->at(size.d) : kNan;
}

LinearParts linear_parts(const Formula& formula, const FormulaConstants& constants, double d) {
  LinearParts parts(constants.size());
  for (std::size_t place = 0; place < parts.size(); ++place) {
    const Operation operation = formula[place].operation;
    if (formula.operands(place) == 0) {
      parts[place] = is_vector(operation) ? LinearPart{{1}} : LinearPart{{0}, true};
      continue;
    }
    const std::size_t a = formula.first(place);
    const std::size_t b = formula.second(place);
    if (!parts[a] || !parts[b]) continue;
    parts[place] = linear(operation, *parts[a], *parts[b], constants[a], constants[b], d);
  }
  return parts;
}

std::optional<CappedLogit> capped_logit(const Formula& formula, const FormulaSize& size) {
  const FormulaConstants constants = constants_of(formula, size);
  const LinearParts parts = linear_parts(formula, constants, size.d);
  std::size_t place = formula.root();
  if (parts[place] && !parts[place]->has_offset) return CappedLogit{parts[place]->slope};
  PowerOfD before;  // what the bend is multiplied by
  while (formula[place].operation != Operation::kTanh) {
    if (formula.operands(place) == 0) return std::nullopt;
    const std::size_t first = formula.first(place);
    const std::size_t second = formula.second(place);
    const Operation operation = formula[place].operation;
    if (operation == Operation::kNegate) {
      before = negated(before);
    } else if (operation == Operation::kMultiply && constants[first]) {
      before = *constants[first] * before;
      place = second;
      continue;
    } else if (operation == Operation::kMultiply && constants[second]) {
      before = before * *constants[second];
    } else if (operation == Operation::kDivide && constants[second]) {
      before = before * reciprocal(*constants[second]);
    } else {
      return std::nullopt;
    }
    place = first;
  }
  const auto& bent = parts[formula.first(place)];
  if (!bent || bent->has_offset || before.multiplier == 0) return std::nullopt;
  return CappedLogit{before * bent->slope, before.multiplier < 0 ? negated(before) : before};
}

}  // namespace attnscale
