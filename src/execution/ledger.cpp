#include "execution/ledger.h"

#include <algorithm>
#include <utility>

#include "estimate/stop_rule.h"

namespace attnscale {
namespace {

// How many blocks of the plan's cell number `cell` are wanted, given what is known of it: all, or,
// with a precision target, those up to the look at which the target is met, as far as that is
// known. Requires that no block was measured before it was wanted.
std::int64_t blocks_wanted(const Plan& plan, std::size_t cell, const CellLedger& known) {
  const Cell& planned = plan.cells[cell];
  const Experiment& experiment = plan.experiment_of(planned);
  if (!experiment.stop) return planned.blocks;
  // Whatever is done was wanted after all looks before it had failed.
  const std::int64_t reached = known.done.empty() ? 0 : known.done.ranges().back().last;
  const std::int64_t look = look_from(planned, *experiment.stop, reached);
  if (look == planned.blocks || !known.done.contains({0, look}) ||
      meets_target(experiment, planned, known.tree.fold())) {
    return look;
  }
  return look_from(planned, *experiment.stop, look + 1);
}

}  // namespace

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

Ledger::Ledger(const Plan& plan, Shard shard, std::vector<CellLedger> cells)
    : plan_(plan), shard_(shard), cells_(std::move(cells)) {
  cells_.resize(plan.cells.size());
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    BlockRange wanted = share_of(plan, shard, i);
    wanted.last = std::min(wanted.last, blocks_wanted(plan, i, cells_[i]));
    wanted_.push_back(wanted);
  }
}

CellChange Ledger::merge(std::size_t cell, const CellLedger& part) {
  const std::lock_guard lock(mutex_);
  CellLedger& known = cells_[cell];
  BlockRange& wanted = wanted_[cell];
  known.merge(part);
  if (!known.done.contains(wanted)) return {};
  const std::int64_t before = wanted.last;
  wanted.last = std::min(share_of(plan_, shard_, cell).last, blocks_wanted(plan_, cell, known));
  return {{before, wanted.last}, wanted.last == before};
}

CellLedger Ledger::cell(std::size_t cell) const {
  const std::lock_guard lock(mutex_);
  return cells_[cell];
}

BlockSet Ledger::missing(std::size_t cell) const {
  const std::lock_guard lock(mutex_);
  return cells_[cell].done.missing_from(wanted_[cell]);
}

bool Ledger::is_complete() const {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (!cells_[i].done.contains(wanted_[i])) return false;
  }
  return true;
}

std::int64_t Ledger::queries_done(std::size_t cell) const {
  const std::lock_guard lock(mutex_);
  return queries_in(plan_.cells[cell], cells_[cell].done);
}

std::int64_t Ledger::queries_done() const {
  std::int64_t queries = 0;
  for (std::size_t i = 0; i < cells_.size(); ++i) queries += queries_done(i);
  return queries;
}

std::vector<CellTally> Ledger::tallies() const {
  const std::lock_guard lock(mutex_);
  std::vector<CellTally> tallies;
  for (const CellLedger& cell : cells_) tallies.push_back({cell.tree.fold(), cell.counts});
  return tallies;
}

}  // namespace attnscale
