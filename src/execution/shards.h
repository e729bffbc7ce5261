// Shards of one run back into the run: checks that they are all of it, once, and of one run, and
// merges their ledgers. Knows nothing of results.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <vector>

#include "execution/checkpoint.h"
#include "execution/ledger.h"
#include "execution/run_identity.h"

namespace attnscale {

/// The folders do not form one run; the message has one line for each fault. Exit code 5.
class ShardMismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A whole run, put together from its shards.
struct MergedRun {
  RunIdentity identity;
  Plan plan;
  std::vector<CellLedger> cells;  ///< in the plan's order, every block done
};

/// Merges the shards in `folders`, in any order, into the run they are parts of: the same bits as
/// the run in one piece. One shard's ledger is in memory at a time. Throws ShardMismatch with every
/// fault named, and its range of blocks: a folder without a whole checkpoint; another version, seed
/// or config than most; blocks that are in two shards, or in none; a shard that is not finished.
MergedRun merge_shards(const std::vector<std::filesystem::path>& folders,
                       const ConfigReader& read_config);

}  // namespace attnscale
