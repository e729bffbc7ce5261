// Whether what a file or a message says of a cell can be true, by the plan alone. A hash stops
// accidents; this stops numbers that no run can have.
#pragma once

#include <cstddef>
#include <vector>

#include "execution/ledger.h"

namespace attnscale {

/// What the ledger of a cell has once a block is done.
struct LedgerShape {
  std::vector<std::size_t> dimensions;  ///< of each group of CellMoments
  std::size_t metrics = 0;              ///< CellCounts::metrics
  std::size_t histograms = 0;           ///< CellCounts::histograms
};

LedgerShape shape_of(const Experiment& experiment);

/// Whether a ledger of the experiment's shape can be that of blocks of the cell: no block beyond
/// the last; moments of exactly the blocks that are done, of all their queries or with those left
/// out; as many counts as queries in the moments; extremes where the counts are; means between the
/// extremes, sums of squares that such numbers can have, and a finite mean of the logits.
bool is_possible(const CellLedger& ledger, const Experiment& experiment, const Cell& cell);

}  // namespace attnscale
