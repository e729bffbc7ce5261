#include "execution/shards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "execution/executor.h"
#include "support/scratch_folder.h"
#include "support/small_plan.h"

namespace attnscale {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

constexpr std::int64_t kQueries = 1237;

RunIdentity identity_with_seed(std::int64_t seed) {
  return {"1.0.0", R"({"name": "small_run", "seed": )" + std::to_string(seed) + "}"};
}

Config read_small(const std::string&) {
  return small_config(kQueries);
}

std::filesystem::path write_shard(const ScratchFolder& scratch, const std::string& name,
                                  Shard shard, std::int64_t seed = 7) {
  const Plan plan = small_plan(kQueries);
  Ledger ledger(plan, shard);
  ThreadExecutor().measure(plan, ledger, {});
  std::filesystem::create_directory(scratch / name);
  save_checkpoint(scratch / name, identity_with_seed(seed), ledger);
  return scratch / name;
}

TEST(Shards, SharesAreContiguousDisjointAndEverything) {
  for (const std::int64_t blocks : {0, 1, 2, 10, 155}) {
    for (const std::int64_t count : {1, 2, 3, 7, 16}) {
      for (const std::size_t cell : {std::size_t{0}, std::size_t{1}, std::size_t{20}}) {
        BlockSet all;
        std::int64_t size = 0;
        for (std::int64_t index = 1; index <= count; ++index) {
          const BlockRange share = shard_range(blocks, {index, count}, cell);
          EXPECT_GE(share.size(), blocks / count);
          EXPECT_LE(share.size(), blocks / count + 1);
          size += share.size();
          all.add(share);
        }
        EXPECT_EQ(size, blocks);
        EXPECT_TRUE(all.contains({0, blocks}));
      }
    }
  }
}

TEST(Shards, ManyCellsOfOneBlockGoRoundTheShards) {
  std::int64_t least = 100, most = 0;
  for (std::int64_t index = 1; index <= 7; ++index) {
    std::int64_t blocks = 0;
    for (std::size_t cell = 0; cell < 70; ++cell) blocks += shard_range(1, {index, 7}, cell).size();
    least = std::min(least, blocks);
    most = std::max(most, blocks);
  }
  EXPECT_EQ(least, 10);
  EXPECT_EQ(most, 10);
}

TEST(Shards, MergedInAnyOrderTheyAreTheWholeRunBitForBit) {
  const ScratchFolder scratch;
  const Plan plan = small_plan(kQueries);
  Ledger whole(plan);
  ASSERT_TRUE(ThreadExecutor().measure(plan, whole, {}));
  std::mt19937_64 shuffler(1);
  for (const std::int64_t count : {1, 3, 7}) {
    std::vector<std::filesystem::path> folders;
    for (std::int64_t index = 1; index <= count; ++index) {
      folders.push_back(write_shard(scratch, std::to_string(index) + "-" + std::to_string(count),
                                    {index, count}));
    }
    for (int repeat = 0; repeat < 5; ++repeat) {
      std::shuffle(folders.begin(), folders.end(), shuffler);
      const MergedRun merged = merge_shards(folders, read_small);
      EXPECT_EQ(merged.identity, identity_with_seed(7));
      ASSERT_EQ(merged.cells.size(), whole.cells());
      for (std::size_t i = 0; i < whole.cells(); ++i) {
        EXPECT_EQ(merged.cells[i], whole.cell(i)) << count << " shards, cell " << i;
      }
    }
  }
}

TEST(Shards, EveryFaultIsNamedWithItsBlocks) {
  // 1237 queries in blocks of 8 are 155 blocks; thirds of the first cell begin at 52 and 104.
  const ScratchFolder scratch;
  const auto first = write_shard(scratch, "first", {1, 3});
  const auto second = write_shard(scratch, "second", {2, 3});
  const auto third = write_shard(scratch, "third", {3, 3});
  const auto foreign = write_shard(scratch, "foreign", {2, 3}, 8);
  const auto half = write_shard(scratch, "half", {1, 2});
  const auto merging = [](std::vector<std::filesystem::path> folders) {
    return [folders] { merge_shards(folders, read_small); };
  };
  EXPECT_NO_THROW(merging({first, second, third})());
  EXPECT_THAT(merging({first, third}),
              ThrowsMessage<ShardMismatch>(HasSubstr("shard 2 of 3 is missing: blocks 52-103 of "
                                                     "small d=1048576 keys=8 and of 1 more cell")));
  EXPECT_THAT(merging({first, second, third, second}),
              ThrowsMessage<ShardMismatch>(
                  AllOf(HasSubstr("both hold blocks 52-103"), Not(HasSubstr("missing")))));
  EXPECT_THAT(merging({first, foreign, third}),
              ThrowsMessage<ShardMismatch>(AllOf(HasSubstr("/seed is 8 there and 7"),
                                                 HasSubstr("its share is blocks 52-103"))));
  EXPECT_THAT(merging({half, second, third}),
              ThrowsMessage<ShardMismatch>(HasSubstr("both hold blocks 52-77")));
  EXPECT_THAT(merging({half, third}),
              ThrowsMessage<ShardMismatch>(HasSubstr("in none of the shards: blocks 78-103")));
  EXPECT_THAT(merging({first, second, third, scratch / "absent"}),
              ThrowsMessage<ShardMismatch>(HasSubstr("absent is not a shard")));
  EXPECT_THAT(merging({}), ThrowsMessage<ShardMismatch>(HasSubstr("no shard was given")));
}

TEST(Shards, AnUnfinishedOrDamagedShardIsNamed) {
  const ScratchFolder scratch;
  const auto first = write_shard(scratch, "first", {1, 2});
  const auto second = write_shard(scratch, "second", {2, 2});
  const Plan plan = small_plan(kQueries);
  save_checkpoint(second, identity_with_seed(7), Ledger(plan, {2, 2}));
  EXPECT_THAT(
      [&] {
        merge_shards({first, second}, read_small);
      },
      ThrowsMessage<ShardMismatch>(HasSubstr("is not finished: blocks 78-154")));
  put(second / kCheckpointName, "attnscale-checkpoint 1\n");
  EXPECT_THAT(
      [&] {
        merge_shards({first, second}, read_small);
      },
      ThrowsMessage<ShardMismatch>(HasSubstr("cut off")));
}

}  // namespace
}  // namespace attnscale
