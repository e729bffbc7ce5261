// From a cell's tally to the lines of the results: estimate, standard error, 95 % interval,
// quantiles, exact reference and z.
#pragma once

#include <vector>

#include "estimate/reference.h"
#include "estimate/tally.h"
#include "experiment/plan.h"
#include "experiment/result_row.h"

namespace attnscale {

/// The lines of one cell: scaling by scaling, metrics in the experiment's order. `exact` belongs to
/// the run, so that its cells share what they have in common.
std::vector<ResultRow> estimate_cell(const Plan& plan, const Cell& cell, const CellTally& tally,
                                     ExactValues& exact);

}  // namespace attnscale
