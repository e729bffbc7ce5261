// The blocks a run has yet to measure, handed out in order as spans of one cell. Knows nothing of
// who measures them.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "execution/block_set.h"
#include "execution/ledger.h"
#include "experiment/plan.h"

namespace attnscale {

/// Neighbouring blocks of one cell: what a worker measures before it speaks to anyone.
struct Span {
  std::size_t cell = 0;
  BlockRange blocks;
};

/// What the ledger lacks of its share, without a list of blocks. Threads may call at once.
class BlockQueue {
 public:
  BlockQueue(const Plan& plan, const Ledger& ledger);

  /// The next span, or nothing where all are handed out. Long enough (some 10 ms) that handing out
  /// and merging cost nothing, short enough that the last spans of a cell end at about one time.
  std::optional<Span> take();

 private:
  struct Gap {
    std::size_t cell;
    BlockRange blocks;
    std::int64_t longest_span;
  };

  std::mutex mutex_;
  std::vector<Gap> gaps_;  // in reverse order: the next one is at the back
};

}  // namespace attnscale
