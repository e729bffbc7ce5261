// The blocks a run has yet to measure, handed out in order as spans of one cell. Knows nothing of
// who measures them.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "execution/block_set.h"
#include "execution/ledger.h"
#include "experiment/measure_block.h"
#include "experiment/plan.h"

namespace attnscale {

/// Neighbouring blocks of one cell: what a worker measures before it speaks to anyone.
struct Span {
  std::size_t cell = 0;
  BlockRange blocks;
};

/// The blocks that the ledger lacks of its share, without listing them one by one. In a cell with a
/// precision target it hands out no block beyond the next look: later blocks follow if that look
/// asks for them, and other cells are worked on meanwhile. Threads may call at once.
class BlockQueue {
 public:
  /// While the queue lives, parts come into the ledger by `merge` alone.
  BlockQueue(const Plan& plan, Ledger& ledger);

  /// The next span, waiting for one while some may follow; empty if none will, or if there is none
  /// and `stopped` says so. Long enough (some 10 ms) that handing out and merging cost nothing,
  /// short enough that the last spans of a cell end at about one time.
  std::optional<Span> take(const StopSignal& stopped);

  /// Whether all spans are handed out and none will follow.
  bool is_over();

  /// Adds a measured part to the ledger; whether the cell is complete now.
  bool merge(std::size_t cell, const CellLedger& part);

 private:
  struct Gap {
    std::size_t cell;
    BlockRange blocks;
    std::int64_t longest_span;
  };

  void add(std::size_t cell, BlockRange blocks);

  const Plan& plan_;
  Ledger& ledger_;
  std::mutex mutex_;
  std::condition_variable followed_;
  std::deque<Gap> gaps_;        // the next one is in front
  std::int64_t undecided_ = 0;  // cells with a target that are not complete
};

}  // namespace attnscale
