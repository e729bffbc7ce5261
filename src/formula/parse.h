// From the text of a formula to its tree.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formula/formula.h"
#include "formula/lexer.h"

namespace attnscale {

/// Whether the text is a logit, with the product of a query and a key, or a number, without.
enum class FormulaKind { kLogit, kNumber };

/// The name somebody meant when they misspelt one of `known`, or nothing.
using NearestName = std::function<std::optional<std::string_view>(
    std::string_view wrong, std::span<const std::string_view> known)>;

/// Reads, from what binds most loosely to what binds most tightly:
///
///     sum      = product, then any of + - and a product
///     product  = signed, then any of * / and a signed, or a power side by side (which multiplies)
///     signed   = any of + -, then a power
///     power    = dot, then ^ and a signed (from right to left)
///     dot      = whole . whole, of a query and a key
///     whole    = number | name | function(sum, ...) | (sum)
///
/// `own` are the names of the user. A function's name calls it before a bracket and may be the
/// user's name elsewhere. All dots of a formula have the same norms. Throws FormulaError.
Formula parse_formula(std::string_view text, FormulaKind kind,
                      std::span<const std::string_view> own = {}, const NearestName& nearest = {});

}  // namespace attnscale
