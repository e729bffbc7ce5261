// The name somebody meant when they misspelt it. Knows letters, not what the names mean.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io/json_text.h"

namespace attnscale {

/// Single-character insertions, deletions, replacements and swaps of neighbours that turn one word
/// into the other (optimal string alignment), upper and lower case taken as equal.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The only name that begins with `wrong`, if that has 5 letters. Else the shortest of which it is
/// one part or several between underscores, as "sqrt_d" is of "div_sqrt_d". Else the nearest of
/// `names`, the first of equals: at most a third of the letters may differ, but one always may.
/// Else the only name that begins with `wrong`, if that has 3 letters. Nothing if none is near.
std::optional<std::string_view> nearest_name(std::string_view wrong,
                                             std::span<const std::string_view> names);

/// ` unknown WHAT "wrong"; did you mean "right"? Allowed: a, b, c` without the leading blank.
std::string unknown_name(std::string_view what, std::string_view wrong,
                         std::span<const std::string_view> names);

}  // namespace attnscale
