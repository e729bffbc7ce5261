#include "formula/print.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "numerics/shortest.h"

namespace attnscale {
namespace {

// How tightly a text holds together.
enum class Binding { kSum, kProduct, kSign, kPower, kDot, kWhole };

struct Text {
  std::string text;
  Binding binding = Binding::kWhole;

  std::string at_least(Binding least) const {
    return binding < least ? fmt::format("({})", text) : text;
  }
};

// A function's name before a bracket would call it, though here it is a number's.
bool ends_like_a_call(std::string_view text) {
  const auto is_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  const auto end = std::find_if_not(text.rbegin(), text.rend(), is_of_name);
  return find_function(text.substr(static_cast<std::size_t>(text.rend() - end))) != nullptr;
}

Text print(const Formula& formula, std::size_t place) {
  const FormulaNode& node = formula[place];
  const std::string name(row_of(node.operation).name);
  if (node.operation == Operation::kNumber) return {shortest(node.number)};
  if (node.operation == Operation::kName) return {node.name};
  if (formula.operands(place) == 0) return {name};
  const std::size_t first = formula.first(place);
  const std::size_t second = formula.second(place);
  const Text a = print(formula, first);
  const Text b = formula.operands(place) == 2 ? print(formula, second) : Text{};
  const auto joined = [&](Binding left, std::string_view sign, Binding right, Binding own) {
    return Text{fmt::format("{}{}{}", a.at_least(left), sign, b.at_least(right)), own};
  };
  const auto are = [&](Operation left, Operation right) {
    return formula[first].operation == left && formula[second].operation == right;
  };
  switch (node.operation) {
    case Operation::kNegate:
      return {fmt::format("-{}", a.at_least(Binding::kSign)), Binding::kSign};
    case Operation::kAdd:
    case Operation::kSubtract:
      return joined(Binding::kSum, fmt::format(" {} ", name), Binding::kProduct, Binding::kSum);
    case Operation::kMultiply: {
      const std::string left = a.at_least(Binding::kProduct);
      const char next = b.at_least(Binding::kSign).front();
      const bool is_clear = formula[first].operation != Operation::kDivide && next != '-' &&
                            !std::isdigit(static_cast<unsigned char>(next)) &&
                            !(next == '(' && ends_like_a_call(left));
      return joined(Binding::kProduct, is_clear ? " " : " * ", Binding::kSign, Binding::kProduct);
    }
    case Operation::kDivide:
      return joined(Binding::kProduct, " / ", Binding::kSign, Binding::kProduct);
    case Operation::kPower:
      return joined(Binding::kWhole, "^", Binding::kSign, Binding::kPower);
    case Operation::kDot:
      if (are(Operation::kUnit, Operation::kUnit)) return {"cos(q, k)"};
      return joined(Binding::kWhole, ".", Binding::kWhole, Binding::kDot);
    case Operation::kMin:
      if (formula[first].operation == Operation::kMax) {
        const std::string_view inside = std::string_view(a.text).substr(a.text.find('(') + 1);
        return {fmt::format("clamp({}, {})", inside.substr(0, inside.size() - 1), b.text)};
      }
      break;
    default:
      break;
  }
  if (formula.operands(place) == 1) return {fmt::format("{}({})", name, a.text)};
  return {fmt::format("{}({}, {})", name, a.text, b.text)};
}

}  // namespace

std::string print_formula(const Formula& formula) {
  return print(formula, formula.root()).text;
}

}  // namespace attnscale
