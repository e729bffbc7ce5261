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
inline constexpr FieldBounds kAnyBounds = {-kAnyNumber, kAnyNumber};

/// A formula and what stands for the names in it, and in what stands for them.
struct OwnFormula {
  Formula logit;
  std::vector<NamedNumber> numbers;
};

/// That of an object with a "logit", whose keys are names of the user's `own` and others that are
/// `reserved`. A name that stands nowhere is an error.
OwnFormula read_own_formula(const JsonValue& object, const std::vector<std::string_view>& own,
                            const std::vector<std::string_view>& reserved);

/// The numbers of a preset in their order.
std::vector<NamedNumber> read_preset_numbers(const JsonValue& object, const PresetRow& row);

}  // namespace attnscale
