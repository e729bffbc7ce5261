#include "formula/derivative.h"

#include <array>

#include "formula/parse.h"

namespace attnscale {
namespace {

bool is(double number, const Formula& formula) {
  return formula.number() == number;
}

Formula negated(const Formula& a) {
  if (const auto number = a.number()) return -*number;
  if (a.operation() == Operation::kNegate) return a.part(a.first(a.root()));
  return {Operation::kNegate, a};
}

// The operation without what is obvious, such as 0 + a, 1 a and a^1.
Formula simplified(Operation operation, const Formula& a, const Formula& b) {
  const auto x = a.number();
  const auto y = b.number();
  switch (operation) {
    case Operation::kAdd:
      if (is(0, a)) return b;
      if (is(0, b)) return a;
      if (x && y) return *x + *y;
      break;
    case Operation::kSubtract:
      if (is(0, a)) return negated(b);
      if (is(0, b)) return a;
      if (x && y) return *x - *y;
      break;
    case Operation::kMultiply:
      if (is(0, a) || is(0, b)) return 0.0;
      if (is(1, a)) return b;
      if (is(1, b)) return a;
      if (x && y) return *x * *y;
      if (is(-1, a)) return negated(b);
      if (is(-1, b)) return negated(a);
      break;
    case Operation::kDivide:
      if (is(0, a)) return 0.0;
      if (is(1, b)) return a;
      break;
    case Operation::kPower:
      if (is(0, b)) return 1.0;
      if (is(1, b)) return a;
      break;
    default:
      break;
  }
  return {operation, a, b};
}

Formula simplified(const Formula& formula) {
  std::vector<Formula> done;
  for (std::size_t place = 0; place < formula.nodes().size(); ++place) {
    const FormulaNode& node = formula[place];
    if (formula.operands(place) == 0) {
      done.emplace_back(node);
    } else if (node.operation == Operation::kNegate) {
      done.push_back(negated(done[formula.first(place)]));
    } else if (formula.operands(place) == 1) {
      done.emplace_back(node.operation, done[formula.first(place)]);
    } else {
      done.push_back(
          simplified(node.operation, done[formula.first(place)], done[formula.second(place)]));
    }
  }
  return done.back();
}

// By the chain rule from the table of operations.
Formula slope_at(const Formula& formula, std::size_t place) {
  const Operation operation = formula[place].operation;
  if (formula.operands(place) == 0) return is_vector(operation) ? 1.0 : 0.0;
  static constexpr std::array<std::string_view, 2> kOperands{"a", "b"};
  const FormulaValues operands{{"a", formula.part(formula.first(place))},
                               {"b", formula.part(formula.second(place))}};
  const auto along = [&](std::string_view slope, std::size_t operand) {
    const Formula inner = slope_at(formula, operand);
    const Formula outer =
        with_values(parse_formula(slope, FormulaKind::kNumber, kOperands), operands);
    return is(0, inner) ? inner : simplified({Operation::kMultiply, outer, inner});
  };
  if (operation == Operation::kDot) {
    return simplified({Operation::kMultiply, slope_at(formula, formula.first(place)),
                       slope_at(formula, formula.second(place))});
  }
  const OperationRow& row = row_of(operation);
  Formula first = along(row.slope_a, formula.first(place));
  if (formula.operands(place) == 1) return first;
  return simplified(Operation::kAdd, first, along(row.slope_b, formula.second(place)));
}

}  // namespace

Formula derivative(const Formula& formula) {
  return slope_at(formula, formula.root());
}

}  // namespace attnscale
