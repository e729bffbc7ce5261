#include "execution/shard.h"

#include <algorithm>

namespace attnscale {

std::string to_string(Shard shard) {
  if (shard.count == 1) return std::string(kWholeRun);
  return "shard " + std::to_string(shard.index) + " of " + std::to_string(shard.count);
}

BlockRange shard_range(std::int64_t blocks, Shard shard, std::size_t cell) {
  const std::int64_t turn = static_cast<std::int64_t>(cell) % shard.count;
  const std::int64_t place = (shard.index - 1 + turn) % shard.count;
  const std::int64_t share = blocks / shard.count;
  const std::int64_t left_over = blocks % shard.count;
  const std::int64_t first = place * share + std::min(place, left_over);
  return {first, first + share + (place < left_over ? 1 : 0)};
}

BlockRange share_of(const Plan& plan, Shard shard, std::size_t cell) {
  const Cell& planned = plan.cells[cell];
  if (!plan.experiment_of(planned).stop) {
    return shard_range(planned.blocks, shard, cell);
  }
  const bool is_ours = shard_range(1, shard, cell).size() == 1;
  return {0, is_ours ? planned.blocks : 0};
}

}  // namespace attnscale
