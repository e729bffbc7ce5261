#include "execution/block_queue.h"

#include <algorithm>

namespace attnscale {
namespace {

std::int64_t longest_span(const Plan& plan, const Cell& cell) {
  constexpr std::int64_t kWork = std::int64_t{1} << 21;  // entries or scores drawn: some 10 ms
  const bool draws_entries = plan.config.experiments[cell.experiment].sampler->draws_entries;
  const std::int64_t per_query = cell.draw.keys * (draws_entries ? cell.draw.d : 1);
  return std::max<std::int64_t>(1, kWork / per_query / cell.block_queries);
}

}  // namespace

BlockQueue::BlockQueue(const Plan& plan, const Ledger& ledger) {
  for (std::size_t cell = plan.cells.size(); cell-- > 0;) {
    const BlockSet missing = ledger.missing(cell);
    const std::int64_t longest = longest_span(plan, plan.cells[cell]);
    for (auto range = missing.ranges().rbegin(); range != missing.ranges().rend(); ++range) {
      gaps_.push_back({cell, *range, longest});
    }
  }
}

std::optional<Span> BlockQueue::take() {
  constexpr std::int64_t kSharers = 8;
  const std::lock_guard lock(mutex_);
  if (gaps_.empty()) return std::nullopt;
  Gap& gap = gaps_.back();
  const std::int64_t first = gap.blocks.first;
  gap.blocks.first += std::clamp<std::int64_t>(gap.blocks.size() / kSharers, 1, gap.longest_span);
  const Span span{gap.cell, {first, gap.blocks.first}};
  if (gap.blocks.size() == 0) gaps_.pop_back();
  return span;
}

}  // namespace attnscale
