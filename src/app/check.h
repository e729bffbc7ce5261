// Somebody's printed numbers against exact values.
#pragma once

#include <cstddef>
#include <span>

#include "app/arguments.h"
#include "app/process.h"

namespace attnscale {

/// The options of the command: sizes, and one for each metric that has an exact value.
std::span<const OptionRow> check_options();

/// The answer for the screen, `width` characters wide, or for programs; its code is kMismatch if a
/// number is further off than it may be. Standard errors are those of as many independent queries
/// as the numbers are from, from theory's spread of fractions and else from that of drawn queries.
/// Throws UserError, also for a number without an exact value.
Answer check(const Arguments& arguments, std::size_t width);

}  // namespace attnscale
