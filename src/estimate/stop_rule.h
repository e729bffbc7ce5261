// When a cell with a precision target has enough queries. A target is looked at only after complete
// prefixes of blocks of fixed lengths, so that the cell stops at the same query whoever measured
// it. Knows nothing of who measures, or in what order.
#pragma once

#include <cstdint>
#include <vector>

#include "estimate/tally.h"
#include "experiment/plan.h"
#include "experiment/result_row.h"

namespace attnscale {

/// The first look at `blocks` blocks or later: a power of two that holds at least the target's
/// min_queries, or else all blocks of the cell. Requires 0 <= blocks <= cell.blocks.
std::int64_t look_from(const Cell& cell, const PrecisionTarget& target, std::int64_t blocks);

/// Whether a cell whose target is `target` can end with `queries` queries.
bool can_end_with(const Cell& cell, const PrecisionTarget& target, std::int64_t queries);

/// Whether the target of `experiment` is met under every scaling that it names: half the width of
/// the interval at its confidence is at most its error. Never if nothing varied, since a variance
/// of zero says more about the few queries than about the metric. Requires a target. `moments` are
/// those of a prefix of the cell's blocks.
bool meets_target(const Experiment& experiment, const Cell& cell, const CellMoments& moments);

/// Writes the status `converged` or `max_queries` into those of a cell's lines that its target is
/// about and whose status is `ok`; none without a target. `rows` are those of estimate_cell.
void mark_target(const Experiment& experiment, const Cell& cell, const CellMoments& moments,
                 std::vector<ResultRow>& rows);

/// Whether the line is about the experiment's target and it was not met.
bool misses_target(const Experiment& experiment, const ResultRow& row);

}  // namespace attnscale
