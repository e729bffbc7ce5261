// The first queries of each cell, one by one. They are measured again for the file rather than kept
// through the run: a block is a pure function, and a run's memory must not grow with its queries.
#pragma once

#include <optional>
#include <vector>

#include "experiment/measure_block.h"
#include "experiment/plan.h"
#include "experiment/result_row.h"

namespace attnscale {

/// The metrics of the first `samples` queries of a drawn cell, scaling by scaling. Empty if `stop`
/// abandoned it.
std::optional<std::vector<SampleRow>> sample_cell(const Plan& plan, const Cell& cell,
                                                  const StopSignal& stop = nullptr);

}  // namespace attnscale
