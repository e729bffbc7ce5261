#include "execution/ledger.h"

#include <utility>

namespace attnscale {

std::int64_t queries_in(const Cell& cell, const BlockSet& blocks) {
  const std::int64_t last = cell.blocks - 1;
  const std::int64_t queries = blocks.size() * cell.block_queries;
  if (!blocks.contains({last, last + 1})) return queries;
  return queries - (cell.block_queries - cell.queries_in(last));
}

void CellLedger::add(std::int64_t block, const BlockValues& values) {
  done.add({block, block + 1});
  tree.add({0, block}, moments_of(values));
  counts.add(values);
}

void CellLedger::merge(const CellLedger& other) {
  done.add(other.done);
  for (const auto& [node, moments] : other.tree.pending()) tree.add(node, moments);
  counts.merge(other.counts);
}

Ledger::Ledger(const Plan& plan, Shard shard)
    : Ledger(plan, shard, std::vector<CellLedger>(plan.cells.size())) {}

Ledger::Ledger(const Plan& plan, Shard shard, std::vector<CellLedger> cells)
    : shard_(shard), planned_(plan.cells), cells_(std::move(cells)) {}

BlockRange Ledger::share(std::size_t cell) const {
  return shard_range(planned_[cell].blocks, shard_, cell);
}

bool Ledger::merge(std::size_t cell, const CellLedger& part) {
  const std::lock_guard lock(mutex_);
  cells_[cell].merge(part);
  return cells_[cell].done.contains(share(cell));
}

CellLedger Ledger::cell(std::size_t cell) const {
  const std::lock_guard lock(mutex_);
  return cells_[cell];
}

BlockSet Ledger::missing(std::size_t cell) const {
  const std::lock_guard lock(mutex_);
  return cells_[cell].done.missing_from(share(cell));
}

bool Ledger::is_complete() const {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (!cells_[i].done.contains(share(i))) return false;
  }
  return true;
}

std::int64_t Ledger::queries_done() const {
  const std::lock_guard lock(mutex_);
  std::int64_t queries = 0;
  for (std::size_t i = 0; i < cells_.size(); ++i)
    queries += queries_in(planned_[i], cells_[i].done);
  return queries;
}

std::vector<CellTally> Ledger::tallies() const {
  const std::lock_guard lock(mutex_);
  std::vector<CellTally> tallies;
  for (const CellLedger& cell : cells_) tallies.push_back({cell.tree.fold(), cell.counts});
  return tallies;
}

}  // namespace attnscale
