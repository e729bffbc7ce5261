// The formulas of a scaling in a config, and what stands for the names in them. Every function that
// reads throws UserError at the value, or the character of a formula, that is wrong.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/axis.h"
#include "formula/parse.h"

namespace attnscale {

/// What stands for a name in a formula: a number, a sweep of them, or another formula.
struct NamedNumber {
  std::string name;
  NumberAxis axis;
  std::optional<Formula> formula = {};
};

/// Bounds of a number that may be any.
inline constexpr FieldBounds kAny = {-kAnyNumber, kAnyNumber};

/// A formula in which the names `own` may stand.
Formula read_formula(const JsonValue& value, FormulaKind kind,
                     const std::vector<std::string_view>& own);

/// The members of an object that stand for names of the user's `own`.
std::vector<NamedNumber> read_own_numbers(const JsonValue& object,
                                          const std::vector<std::string_view>& own);

/// Throws UserError at a number whose name stands neither in the formula nor in what stands for
/// names in it; `reserved` are the keys that may have been meant.
void expect_all_used(const JsonValue& object, const Formula& logit,
                     const std::vector<NamedNumber>& numbers,
                     const std::vector<std::string_view>& reserved);

/// The numbers of a preset in their order.
std::vector<NamedNumber> read_preset_numbers(const JsonValue& object, const PresetRow& row);

}  // namespace attnscale
