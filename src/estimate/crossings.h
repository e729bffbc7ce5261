// At which d does one key get most of the weight: where the mean and the median of the top weight
// reach a level, between the sizes that were measured; and from theory, where they exactly do.
#pragma once

#include <cstddef>
#include <vector>

#include "estimate/reference.h"
#include "experiment/plan.h"
#include "experiment/result_row.h"

namespace attnscale {

/// Lines of one law, number of keys and scaling: mean and median, at three levels.
inline constexpr std::size_t kMostCrossings = 6;

/// For each cell family (experiment, entries, keys, scaling) whose rows measure the top weight at
/// two sizes or more: the d at which its mean and its median reach 0.5, 0.9 and 0.99, by a straight
/// line in ln(1 - top weight) against ln d between neighbouring sizes. Status `ok`; `below` if the
/// smallest d is already there, `not_reached` if the largest is not, both without d. The error of d
/// is that of chance in the two sizes; that the line is straight is an assumption.
std::vector<CrossingRow> find_crossings(const std::vector<ResultRow>& rows);

/// Fills in `d_exact` of the crossings of means, also outside the measured sizes, if theory knows
/// it. `crossings` are those of the plan's cells.
void add_exact_crossings(const Plan& plan, ExactValues& exact, std::vector<CrossingRow>& crossings);

}  // namespace attnscale
