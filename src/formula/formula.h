// The formula of a logit as a tree: a plain value that does not change. Reading, printing,
// differentiating and evaluating it are pages of their own, over one table of operations. Knows
// nothing of presets, configs or samplers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscale {

enum class Operation : std::uint8_t {
  kNumber,
  kName,
  kQuery,
  kKey,
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kPower,
  kSqrt,
  kCbrt,
  kExp,
  kLn,
  kLog2,
  kLog10,
  kTanh,
  kAbs,
  kSign,
  kFloor,
  kCeil,
  kMin,
  kMax,
  kClamp,  ///< in no tree: clamp(x, low, high) is min(max(x, low), high)
  kDot,    ///< of a query and a key, each with its norm and factors
  kRms,    ///< a second operand is the width of the wider vector whose mean square it is
  kUnit,
  kLayer,
  kCos,  ///< in no tree: cos(q, k) is unit(q).unit(k)
};

/// True of queries, keys and their norms.
constexpr bool is_vector(Operation operation) {
  return operation == Operation::kQuery || operation == Operation::kKey ||
         operation >= Operation::kRms;
}

inline constexpr std::size_t kMostOperands = 100;  ///< of operands

/// What there is to know of an operation. Slopes are its derivatives after its operands a and b.
struct OperationRow {
  Operation operation;
  std::string_view name;  ///< of a function; of others its sign
  std::size_t least = 0;  ///< operands
  std::size_t most = 0;
  std::string_view slope_a = "1";
  std::string_view slope_b = "0";
  bool rises = false;  ///< in every operand
  std::string_view help = {};
};

/// In the order of the enum.
std::span<const OperationRow> operation_table();

inline const OperationRow& row_of(Operation operation) {
  return operation_table()[static_cast<std::size_t>(operation)];
}

/// The function of that name, or nullptr.
const OperationRow* find_function(std::string_view name);

struct FormulaNode {
  Operation operation = Operation::kNumber;
  double number = 0;      ///< of kNumber; finite and not below 0
  std::string name = {};  ///< of kName: d, keys, i, j, e, pi or one of the user's
  std::size_t size = 1;   ///< nodes of the part that ends here

  friend bool operator==(const FormulaNode&, const FormulaNode&) = default;
};

class Formula;

/// What stands for names.
using FormulaValues = std::vector<std::pair<std::string, Formula>>;

/// The nodes of a tree, each after its operands: a part of it is a run of nodes, and one loop from
/// front to back evaluates it.
class Formula {
 public:
  /// A number, of either sign.
  Formula(double number);
  explicit Formula(FormulaNode leaf) : nodes_{std::move(leaf)} {}
  Formula(Operation operation, Formula operand);
  Formula(Operation operation, Formula first, const Formula& second);

  const std::vector<FormulaNode>& nodes() const { return nodes_; }
  const FormulaNode& operator[](std::size_t place) const { return nodes_[place]; }
  std::size_t root() const { return nodes_.size() - 1; }
  Operation operation() const { return nodes_.back().operation; }

  /// 0, 1 or 2.
  std::size_t operands(std::size_t place) const;
  /// Places of the operands of a node that has any; an only one is both.
  std::size_t first(std::size_t place) const;
  std::size_t second(std::size_t place) const { return place - 1; }
  /// The part that ends at a place.
  Formula part(std::size_t place) const;
  /// The number of either sign that it is, if it is one.
  std::optional<double> number() const;

  friend bool operator==(const Formula&, const Formula&) = default;

 private:
  Formula() = default;
  friend Formula with_values(const Formula& formula, const FormulaValues& values);

  std::vector<FormulaNode> nodes_;
};

/// Names that mean something in every formula: d, keys, i, j, e and pi, and the vectors q and k.
std::span<const std::string_view> formula_names();

/// Names in a formula that are the user's own, each once.
std::vector<std::string> own_names(const Formula& formula);

/// True where the name stands in the formula.
bool mentions(const Formula& formula, std::string_view name);

/// True where queries and keys are normalised before their product.
bool has_norm(const Formula& formula);

/// True where the value depends on the head size, by name or through a norm.
bool needs_d(const Formula& formula);

/// The formula with what is given in place of names.
Formula with_values(const Formula& formula, const FormulaValues& values);

}  // namespace attnscale
