// Exact values without a run.
#pragma once

#include <array>
#include <cstddef>

#include "app/arguments.h"
#include "app/process.h"

namespace attnscale {

// A row takes a line or two.
// clang-format off
inline constexpr std::array kExactOptions{
    OptionRow{"d", "N", "head size; like --keys a number, a list (4,16) or a range (4..1024x4 in steps "
              "of times 4, 2..10+2 of plus 2)"},
    OptionRow{"keys", "N", "number of keys (default 8)"},
    OptionRow{"scaling", "PRESET|FORMULA", "one or several with commas (default none,div_sqrt_d,div_d), "
              "or JSON as in a config; may be repeated", true},
    OptionRow{"metric", "NAME", "one or several with commas, or all (default those of a config; "
              "with --reach top_weight)", true},
    OptionRow{"reach", "LEVEL", "solve for where the metric reaches this: for d if --keys is given, for the "
              "keys if --d is, for the factor of q.k if both are"},
    OptionRow{"format", "FORMAT", "table, markdown, csv or json (default table)", false,
              "table markdown csv json"},
    kHelp};
// clang-format on

/// The exact values of the metrics, or the d, keys or factor at which they reach the levels:
/// whichever of d and keys is not given, or the factor of q.k. `width` is that of the screen in
/// characters. Throws UserError.
Answer exact(const Arguments& arguments, std::size_t width);

}  // namespace attnscale
