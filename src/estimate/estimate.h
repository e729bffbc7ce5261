// From a cell's tally to the lines of the results: estimate, standard error, 95 % interval,
// quantiles, exact reference and z; and how far a scaling moves a metric, from the same queries.
#pragma once

#include <optional>
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

/// Gives a row with an estimate the interval that fits its metric: Clopper and Pearson's for a
/// fraction, else Student's or, for a spread or kurtosis, that on a logarithm, where the row has a
/// standard error.
void fill_interval(const MetricRow& metric, ResultRow& row);

/// The exact value, if there is one, and z, unless queries are left out: those that stay are no
/// sample of all.
void fill_reference(std::optional<double> reference, ResultRow& row);

/// The contrasts of one cell, each scaling minus the experiment's first: what scalings share
/// cancels, so that the error is usually far below that of either. From the second scaling on,
/// metrics in the experiment's order; none with one scaling. `exact` has answered for the cell.
std::vector<ContrastRow> contrast_cell(const Plan& plan, const Cell& cell, const CellTally& tally,
                                       const ExactValues& exact);

}  // namespace attnscale
