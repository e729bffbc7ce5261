// A share of a run: which blocks of every cell one of several machines measures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "execution/block_set.h"
#include "experiment/plan.h"

namespace attnscale {

/// Shard `index` of `count`, index 1 ... count.
struct Shard {
  std::int64_t index = 1;
  std::int64_t count = 1;

  friend bool operator==(const Shard&, const Shard&) = default;
};

/// The name of a run that is not divided into shards.
inline constexpr std::string_view kWholeRun = "the whole run";

/// "shard 2 of 3", or "the whole run".
std::string to_string(Shard shard);

/// A shard's share of a cell's blocks: contiguous, and for all shards together every block once. It
/// may be empty. If shares differ by one block, the larger ones rotate with `cell`, the cell's
/// place in the plan, so that a sweep of many small cells is divided evenly.
BlockRange shard_range(std::int64_t blocks, Shard shard, std::size_t cell);

/// A shard's share of the plan's cell number `cell`: as shard_range says, or, if the cell has a
/// precision target, all of its blocks or none: only a shard with all blocks knows when to stop.
BlockRange share_of(const Plan& plan, Shard shard, std::size_t cell);

}  // namespace attnscale
