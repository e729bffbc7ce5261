// Who measures which block when. Results never depend on it: blocks are pure, moments fold in a
// fixed tree, counts merge in any order.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "experiment/measure_block.h"
#include "experiment/plan.h"
#include "experiment/tally.h"

namespace attnscale {

struct ExecutorOptions {
  int threads = 1;
  StopSignal stop;  ///< asked between tiles; may be empty
  /// Told of each block done, from any thread: its cell's place in the plan and its queries.
  std::function<void(std::size_t cell, std::int64_t queries)> progress;
};

/// The tallies of all cells, in the plan's order; `finished` is false where `stop` ended the run.
struct Measured {
  bool finished = false;
  std::vector<CellTally> tallies;
};

/// Measures every block of the plan with `options.threads` threads. An exception in any of them
/// ends the run and is thrown again here.
Measured measure_plan(const Plan& plan, const ExecutorOptions& options);

}  // namespace attnscale
