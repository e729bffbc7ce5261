#include "execution/block_queue.h"

#include <algorithm>
#include <chrono>

namespace attnscale {
namespace {

std::int64_t longest_span(const Plan& plan, const Cell& cell) {
  constexpr std::int64_t kWork = std::int64_t{1} << 21;  // entries or scores drawn: some 10 ms
  const bool draws_entries = plan.experiment_of(cell).sampler->draws_entries;
  const std::int64_t per_query = cell.draw.keys * (draws_entries ? cell.draw.d : 1);
  return std::max<std::int64_t>(1, kWork / per_query / cell.block_queries);
}

bool has_target(const Plan& plan, std::size_t cell) {
  return plan.experiment_of(plan.cells[cell]).stop.has_value();
}

}  // namespace

BlockQueue::BlockQueue(const Plan& plan, Ledger& ledger) : plan_(plan), ledger_(ledger) {
  for (std::size_t cell = 0; cell < plan.cells.size(); ++cell) {
    const BlockSet missing = ledger.missing(cell);
    for (const BlockRange& blocks : missing.ranges()) add(cell, blocks);
    if (has_target(plan, cell) && !missing.empty()) ++undecided_;
  }
}

std::optional<Span> BlockQueue::take(const StopSignal& stopped) {
  constexpr std::chrono::milliseconds kTick{1};
  constexpr std::int64_t kSharers = 8;
  std::unique_lock lock(mutex_);
  while (gaps_.empty() && undecided_ > 0 && !stopped()) followed_.wait_for(lock, kTick);
  if (gaps_.empty()) return std::nullopt;
  Gap& gap = gaps_.front();
  const std::int64_t first = gap.blocks.first;
  gap.blocks.first += std::clamp<std::int64_t>(gap.blocks.size() / kSharers, 1, gap.longest_span);
  const Span span{gap.cell, {first, gap.blocks.first}};
  if (gap.blocks.size() == 0) gaps_.pop_front();
  return span;
}

bool BlockQueue::is_over() {
  const std::lock_guard lock(mutex_);
  return gaps_.empty() && undecided_ == 0;
}

bool BlockQueue::merge(std::size_t cell, const CellLedger& part) {
  const CellChange change = ledger_.merge(cell, part);
  const std::lock_guard lock(mutex_);
  if (change.wanted.size() > 0) add(cell, change.wanted);
  if (change.complete && has_target(plan_, cell)) --undecided_;
  followed_.notify_all();
  return change.complete;
}

void BlockQueue::add(std::size_t cell, BlockRange blocks) {
  gaps_.push_back({cell, blocks, longest_span(plan_, plan_.cells[cell])});
}

}  // namespace attnscale
