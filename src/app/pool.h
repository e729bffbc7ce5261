// Runs that differ in their seed alone, read from their folders: what `attnscale pool` writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "estimate/pool.h"
#include "execution/run_identity.h"
#include "experiment/plan.h"
#include "experiment/result_row.h"

namespace attnscale {

struct PooledRun {
  Plan plan;             ///< of the run with the lowest seed, as is the identity
  RunIdentity identity;  ///< by this program
  std::vector<std::uint64_t> seeds;
  Results results;
  std::vector<CoverageRow> coverage;
};

/// Reads and pools the runs in `folders`, in any order. Throws UserError that names the folders if
/// one holds no finished run, or files that were changed; or if two have the same seed or differ in
/// more than that.
PooledRun read_pool(const std::vector<std::string>& folders);

/// True if every folder holds a finished run and their seeds are not all the same: what somebody
/// who wants to merge them means to pool.
bool are_runs_of_other_seeds(const std::vector<std::string>& folders);

/// How many intervals hold the exact value, a line for each metric of each experiment, for a screen
/// of `width` characters; empty without exact values.
std::string coverage_text(const std::vector<CoverageRow>& coverage, std::size_t width);

}  // namespace attnscale
