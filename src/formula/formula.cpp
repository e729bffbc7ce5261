#include "formula/formula.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace attnscale {
namespace {

constexpr std::array<std::string_view, 8> kNames{"d", "keys", "i", "j", "e", "pi", "q", "k"};

constexpr bool kRises = true;

// One row is one operation.
// clang-format off
constexpr std::array kOperations{
    OperationRow{Operation::kNumber, ""},
    OperationRow{Operation::kName, ""},
    OperationRow{Operation::kQuery, "q"},
    OperationRow{Operation::kKey, "k"},
    OperationRow{Operation::kNegate, "-", 1, 1, "-1"},
    OperationRow{Operation::kAdd, "+", 2, 2, "1", "1", kRises},
    OperationRow{Operation::kSubtract, "-", 2, 2, "1", "-1"},
    OperationRow{Operation::kMultiply, "*", 2, 2, "b", "a"},
    OperationRow{Operation::kDivide, "/", 2, 2, "1 / b", "-a / b^2"},
    OperationRow{Operation::kPower, "^", 2, 2, "b a^(b - 1)", "ln(a) a^b"},
    OperationRow{Operation::kSqrt, "sqrt", 1, 1, "1 / (2 sqrt(a))", "0", kRises, "square root"},
    OperationRow{Operation::kCbrt, "cbrt", 1, 1, "1 / (3 cbrt(a)^2)", "0", kRises, "cube root"},
    OperationRow{Operation::kExp, "exp", 1, 1, "exp(a)", "0", kRises, "e to that power"},
    OperationRow{Operation::kLn, "ln", 1, 1, "1 / a", "0", kRises, "natural logarithm"},
    OperationRow{Operation::kLog2, "log2", 1, 1, "1 / (a ln(2))", "0", kRises, "logarithm to base 2"},
    OperationRow{Operation::kLog10, "log10", 1, 1, "1 / (a ln(10))", "0", kRises, "logarithm to base 10"},
    OperationRow{Operation::kTanh, "tanh", 1, 1, "(1 - tanh(a)) (1 + tanh(a))", "0", kRises, "hyperbolic tangent"},
    OperationRow{Operation::kAbs, "abs", 1, 1, "sign(a)", "0", !kRises, "magnitude"},
    OperationRow{Operation::kSign, "sign", 1, 1, "0", "0", kRises, "-1, 0 or 1"},
    OperationRow{Operation::kFloor, "floor", 1, 1, "0", "0", kRises, "the integer at or below"},
    OperationRow{Operation::kCeil, "ceil", 1, 1, "0", "0", kRises, "the integer at or above"},
    OperationRow{Operation::kMin, "min", 2, kMostOperands, "(1 - sign(a - b)) / 2", "(1 + sign(a - b)) / 2", kRises, "the smallest"},
    OperationRow{Operation::kMax, "max", 2, kMostOperands, "(1 + sign(a - b)) / 2", "(1 - sign(a - b)) / 2", kRises, "the largest"},
    OperationRow{Operation::kClamp, "clamp", 3, 3, "", "", kRises, "clamp(x, low, high): x kept between them"},
    OperationRow{Operation::kDot, ".", 2, 2},
    OperationRow{Operation::kRms, "rms", 1, 2, "1", "0", !kRises, "q or k over the root of its mean square; rms(q, 2048): that of a wider projection"},
    OperationRow{Operation::kUnit, "unit", 1, 1, "1", "0", !kRises, "q or k over its length"},
    OperationRow{Operation::kLayer, "layer", 1, 1, "1", "0", !kRises, "q or k less its mean, over the root of its variance"},
    OperationRow{Operation::kCos, "cos", 2, 2, "", "", !kRises, "cos(q, k): unit(q).unit(k)"},
};
// clang-format on

static_assert(kOperations.size() == 1 + static_cast<std::size_t>(Operation::kCos));

}  // namespace

std::span<const OperationRow> operation_table() {
  return kOperations;
}

const OperationRow* find_function(std::string_view name) {
  const auto row = std::ranges::find_if(kOperations, [&](const OperationRow& candidate) {
    return !candidate.help.empty() && candidate.name == name;
  });
  return row == kOperations.end() ? nullptr : &*row;
}

Formula::Formula(double number) : nodes_{{.number = std::abs(number)}} {
  if (number < 0) *this = Formula(Operation::kNegate, std::move(*this));
}

Formula::Formula(Operation operation, Formula operand) : nodes_(std::move(operand.nodes_)) {
  nodes_.push_back({.operation = operation, .size = nodes_.size() + 1});
}

Formula::Formula(Operation operation, Formula first, const Formula& second)
    : nodes_(std::move(first.nodes_)) {
  nodes_.insert(nodes_.end(), second.nodes_.begin(), second.nodes_.end());
  nodes_.push_back({.operation = operation, .size = nodes_.size() + 1});
}

std::size_t Formula::operands(std::size_t place) const {
  if (nodes_[place].size == 1) return 0;
  return nodes_[place].size == 1 + nodes_[place - 1].size ? 1 : 2;
}

std::size_t Formula::first(std::size_t place) const {
  return operands(place) == 1 ? place - 1 : place - 1 - nodes_[place - 1].size;
}

Formula Formula::part(std::size_t place) const {
  Formula part = *this;
  part.nodes_.resize(place + 1);
  const auto before = static_cast<std::ptrdiff_t>(place + 1 - nodes_[place].size);
  part.nodes_.erase(part.nodes_.begin(), part.nodes_.begin() + before);
  return part;
}

std::optional<double> Formula::number() const {
  const bool is_negative = operation() == Operation::kNegate;
  const FormulaNode& node = nodes_[root() - (is_negative ? 1 : 0)];
  if (node.operation != Operation::kNumber) return std::nullopt;
  return is_negative ? -node.number : node.number;
}

std::span<const std::string_view> formula_names() {
  return kNames;
}

std::vector<std::string> own_names(const Formula& formula) {
  std::vector<std::string> names;
  for (const FormulaNode& node : formula.nodes()) {
    if (node.operation != Operation::kName) continue;
    if (std::ranges::find(kNames, node.name) != kNames.end()) continue;
    if (std::ranges::find(names, node.name) == names.end()) names.push_back(node.name);
  }
  return names;
}

bool mentions(const Formula& formula, std::string_view name) {
  return std::ranges::any_of(formula.nodes(), [&](const FormulaNode& node) {
    return node.operation == Operation::kName && node.name == name;
  });
}

bool has_norm(const Formula& formula) {
  return std::ranges::any_of(
      formula.nodes(), [](const FormulaNode& node) { return node.operation >= Operation::kRms; });
}

bool needs_d(const Formula& formula) {
  for (std::size_t place = 0; place < formula.nodes().size(); ++place) {
    const Operation operation = formula[place].operation;
    if (operation == Operation::kLayer) return true;
    if (operation == Operation::kRms && formula.operands(place) == 1) return true;
  }
  return mentions(formula, "d");
}

// What stands for a name is a run of nodes, as the name was; what holds it grows.
Formula with_values(const Formula& formula, const FormulaValues& values) {
  Formula with;
  std::vector<FormulaNode>& nodes = with.nodes_;
  for (std::size_t place = 0; place < formula.nodes().size(); ++place) {
    const FormulaNode& node = formula[place];
    const auto value = std::ranges::find(values, node.name, &FormulaValues::value_type::first);
    if (node.operation == Operation::kName && value != values.end()) {
      nodes.insert(nodes.end(), value->second.nodes_.begin(), value->second.nodes_.end());
      continue;
    }
    std::size_t size = 1;
    for (std::size_t operand = 0; operand < formula.operands(place); ++operand) {
      size += nodes[nodes.size() - size].size;
    }
    nodes.push_back(node);
    nodes.back().size = size;
  }
  return with;
}

}  // namespace attnscale
