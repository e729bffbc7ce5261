// How far a scaling moves a metric, from the same queries: each scaling minus the experiment's
// first. What scalings share cancels, so that the error is usually far below that of either.
#pragma once

#include <vector>

#include "estimate/reference.h"
#include "estimate/tally.h"
#include "experiment/plan.h"
#include "experiment/result_row.h"

namespace attnscale {

/// The contrasts of one cell: from the second scaling on, metrics in the experiment's order. An
/// experiment with one scaling has none. `exact` has answered for the cell.
std::vector<ContrastRow> contrast_cell(const Plan& plan, const Cell& cell, const CellTally& tally,
                                       const ExactValues& exact);

}  // namespace attnscale
