// What is known of a run while its blocks come in: for each cell the blocks that are done, their
// moments as canonical nodes of the fold tree, and their counts. Parts of a cell merge in any
// order to the same bits, whoever measured them: a thread, a rank, a shard, or an earlier run that
// was interrupted. Knows nothing of threads, files or messages.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "estimate/tally.h"
#include "execution/block_set.h"
#include "execution/shard.h"
#include "experiment/plan.h"

namespace attnscale {

/// How many queries `blocks` of a cell have.
std::int64_t queries_in(const Cell& cell, const BlockSet& blocks);

/// What is known of some blocks of one cell.
struct CellLedger {
  BlockSet done;
  FoldTree tree;
  CellCounts counts;

  /// Adds a block that is not done.
  void add(std::int64_t block, const BlockValues& values);

  /// Adds blocks of the same cell, none of which is done here.
  void merge(const CellLedger& other);

  friend bool operator==(const CellLedger&, const CellLedger&) = default;
};

/// What merging a part changed in its cell.
struct CellChange {
  BlockRange wanted;      ///< blocks that were not wanted before
  bool complete = false;  ///< no blocks are missing
};

/// All cells of a plan, or a shard's share of them. The plan must outlive it. Threads may call at
/// once.
class Ledger {
 public:
  /// Continues from `cells`, one for each cell of the plan, from the same plan and shard; none if
  /// nothing is done yet.
  explicit Ledger(const Plan& plan, Shard shard = {}, std::vector<CellLedger> cells = {});

  Shard shard() const { return shard_; }
  std::size_t cells() const { return cells_.size(); }

  /// Adds blocks that are wanted and not done.
  CellChange merge(std::size_t cell, const CellLedger& part);

  /// A copy, consistent in itself.
  CellLedger cell(std::size_t cell) const;

  /// The wanted blocks of the cell's share that are still to be measured.
  BlockSet missing(std::size_t cell) const;

  bool is_complete() const;

  /// Queries done so far in one cell, and in all.
  std::int64_t queries_done(std::size_t cell) const;
  std::int64_t queries_done() const;

  /// The tallies of all cells, in the plan's order. Requires a complete ledger of the whole run.
  std::vector<CellTally> tallies() const;

 private:
  const Plan& plan_;
  Shard shard_;
  mutable std::mutex mutex_;
  std::vector<CellLedger> cells_;
  std::vector<BlockRange> wanted_;  // of each cell, as far as is known
};

}  // namespace attnscale
