#include "execution/shards.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <optional>

namespace attnscale {
namespace {

// What the checks need of a shard, without its numbers.
struct ShardOutline {
  std::filesystem::path folder;
  RunIdentity identity;
  Shard shard;
  std::vector<BlockSet> done;
  std::vector<BlockSet> missing;  // of its share
  std::string damage;             // of its cells, as a sentence; then it has no blocks
};

using Faults = std::vector<std::string>;

std::string name_of(const ShardOutline& shard) {
  return to_string(shard.shard) + " in " + shard.folder.string();
}

bool has_blocks(const BlockSet& set) {
  return !set.empty();
}

bool any_block(const std::vector<BlockSet>& blocks) {
  return std::ranges::any_of(blocks, has_blocks);
}

// "blocks 4-6 of softmax d=16 keys=8 and of 9 more cells"; empty if there are no blocks.
std::string describe(const std::vector<BlockSet>& blocks, const Plan& plan) {
  const auto first = std::ranges::find_if(blocks, has_blocks);
  if (first == blocks.end()) return "";
  const Cell& cell = plan.cells[static_cast<std::size_t>(first - blocks.begin())];
  std::string text = "blocks";
  for (const BlockRange& range : first->ranges()) {
    text += fmt::format(" {}-{}", range.first, range.last - 1);
  }
  text += fmt::format(" of {} d={} keys={}", plan.experiment_of(cell).name, cell.draw.d,
                      cell.draw.keys);
  const auto others = std::count_if(first + 1, blocks.end(), has_blocks);
  if (others > 0) text += fmt::format(" and of {} more cells", others);
  return text;
}

std::vector<BlockSet> all_shares(const Plan& plan, Shard shard) {
  std::vector<BlockSet> blocks;
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    blocks.emplace_back(share_of(plan, shard, i));
  }
  return blocks;
}

std::vector<BlockSet> common_of(const std::vector<BlockSet>& a, const std::vector<BlockSet>& b) {
  std::vector<BlockSet> common;
  for (std::size_t i = 0; i < a.size(); ++i) common.push_back(a[i].common_with(b[i]));
  return common;
}

// The checkpoint in `folder`; if there is no whole one, empty, and a fault is added.
std::optional<Checkpoint> load_shard(const std::filesystem::path& folder, Faults& faults) {
  try {
    auto checkpoint = load_checkpoint(folder);
    if (checkpoint) return checkpoint;
    faults.push_back(folder.string() + " is not a shard: it holds no " +
                     std::string(kCheckpointName));
  } catch (const std::exception& error) {
    faults.push_back(error.what());
  }
  return std::nullopt;
}

ShardOutline outline_of(const std::filesystem::path& folder, const Checkpoint& checkpoint,
                        const ConfigReader& read_config) {
  ShardOutline shard{folder, checkpoint.identity, checkpoint.shard, {}, {}, {}};
  const Plan plan = make_plan(read_config(shard.identity.config));
  try {
    const Ledger ledger(plan, shard.shard, read_cells(checkpoint, plan));
    for (std::size_t i = 0; i < plan.cells.size(); ++i) {
      shard.done.push_back(ledger.cell(i).done);
      shard.missing.push_back(ledger.missing(i));
    }
  } catch (const DamagedCheckpoint& error) {
    shard.damage = error.what();
  }
  return shard;
}

std::vector<ShardOutline> load_outlines(const std::vector<std::filesystem::path>& folders,
                                        const ConfigReader& read_config, Faults& faults) {
  std::vector<ShardOutline> shards;
  for (const std::filesystem::path& folder : folders) {
    auto checkpoint = load_shard(folder, faults);
    if (checkpoint) shards.push_back(outline_of(folder, *checkpoint, read_config));
  }
  return shards;
}

// The run that most shards belong to; the first of two as frequent.
const RunIdentity& commonest_identity(const std::vector<ShardOutline>& shards) {
  const auto votes = [&](const ShardOutline& candidate) {
    return std::ranges::count(shards, candidate.identity, &ShardOutline::identity);
  };
  return std::ranges::max_element(shards, {}, votes)->identity;
}

// Takes shards of other runs out of `shards`.
void check_identities(const RunIdentity& identity, const Plan& plan,
                      std::vector<ShardOutline>& shards, Faults& faults) {
  std::erase_if(shards, [&](const ShardOutline& shard) {
    const auto found = first_difference(identity, shard.identity);
    if (found) {
      faults.push_back(
          fmt::format("{} is of another run: {} is {} there and {} in the others (its share is {})",
                      name_of(shard), found->key, found->theirs, found->ours,
                      describe(all_shares(plan, shard.shard), plan)));
    } else if (!shard.damage.empty()) {
      faults.push_back(shard.damage);
    }
    return found || !shard.damage.empty();
  });
}

void check_finished(const Plan& plan, const std::vector<ShardOutline>& shards, Faults& faults) {
  for (const ShardOutline& shard : shards) {
    if (!any_block(shard.missing)) continue;
    faults.push_back(name_of(shard) + " is not finished: " + describe(shard.missing, plan) +
                     " are missing; run it again");
  }
}

// Names two shards that hold the same blocks, or are the same.
void check_overlaps(const Plan& plan, const std::vector<ShardOutline>& shards, Faults& faults) {
  std::vector<BlockSet> seen(plan.cells.size());
  for (auto shard = shards.begin(); shard != shards.end(); ++shard) {
    const bool doubled = any_block(common_of(seen, shard->done));
    for (std::size_t i = 0; i < seen.size(); ++i) seen[i].add(shard->done[i]);
    if (!doubled) continue;
    for (auto earlier = shards.begin(); earlier != shard; ++earlier) {
      const auto common = common_of(earlier->done, shard->done);
      if (!any_block(common)) continue;
      faults.push_back(name_of(*earlier) + " and " + name_of(*shard) + " both hold " +
                       describe(common, plan));
    }
  }
}

// Names the blocks that are in no shard; if all shards have one count, by the shard that is
// missing.
void check_gaps(const Plan& plan, const std::vector<Shard>& given, Faults& faults) {
  std::vector<BlockSet> missing;
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    BlockSet covered;
    for (const Shard shard : given) covered.add(share_of(plan, shard, i));
    missing.push_back(covered.missing_from({0, plan.cells[i].blocks}));
  }
  if (!any_block(missing)) return;
  const std::int64_t count = given.front().count;
  const auto has_this_count = [count](Shard shard) { return shard.count == count; };
  if (!std::ranges::all_of(given, has_this_count)) {
    faults.push_back("in none of the shards: " + describe(missing, plan));
    return;
  }
  for (std::int64_t index = 1; index <= count; ++index) {
    const Shard shard{index, count};
    if (std::ranges::find(given, shard) != given.end()) continue;
    const auto share = all_shares(plan, shard);
    if (any_block(share)) {
      faults.push_back(to_string(shard) + " is missing: " + describe(share, plan));
    }
  }
}

void throw_faults(const Faults& faults) {
  if (faults.empty()) return;
  std::string message = "cannot merge, nothing was written:";
  for (const std::string& fault : faults) message += "\n  " + fault;
  throw ShardMismatch(message);
}

}  // namespace

MergedRun merge_shards(const std::vector<std::filesystem::path>& folders,
                       const ConfigReader& read_config) {
  Faults faults;
  std::vector<ShardOutline> shards = load_outlines(folders, read_config, faults);
  if (folders.empty()) faults.emplace_back("no shard was given");
  if (shards.empty()) throw_faults(faults);

  MergedRun merged;
  merged.identity = commonest_identity(shards);
  merged.plan = make_plan(read_config(merged.identity.config));
  std::vector<Shard> given;
  for (const ShardOutline& shard : shards) given.push_back(shard.shard);
  check_identities(merged.identity, merged.plan, shards, faults);
  check_finished(merged.plan, shards, faults);
  check_overlaps(merged.plan, shards, faults);
  check_gaps(merged.plan, given, faults);
  throw_faults(faults);

  merged.cells.resize(merged.plan.cells.size());
  for (const ShardOutline& shard : shards) {
    const auto checkpoint = load_shard(shard.folder, faults);
    throw_faults(faults);
    const std::vector<CellLedger> cells = read_cells(*checkpoint, merged.plan);
    for (std::size_t i = 0; i < cells.size(); ++i) merged.cells[i].merge(cells[i]);
  }
  return merged;
}

}  // namespace attnscale
