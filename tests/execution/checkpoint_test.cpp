#include "execution/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "execution/executor.h"
#include "io/sha256.h"
#include "support/scratch_folder.h"
#include "support/small_plan.h"

namespace attnscale {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

RunIdentity small_identity() {
  return {"1.0.0", R"({"name": "small_run", "description": "x", "seed": 7,
                       "experiments": [{"name": "small", "d": [4, 16], "queries": 1237}]})"};
}

RunIdentity changed(const std::string& from, const std::string& to) {
  RunIdentity identity = small_identity();
  identity.config.replace(identity.config.find(from), from.size(), to);
  return identity;
}

std::vector<CellLedger> cells_of(const Ledger& ledger) {
  std::vector<CellLedger> cells;
  for (std::size_t i = 0; i < ledger.cells(); ++i) cells.push_back(ledger.cell(i));
  return cells;
}

// A ledger after about `tiles` tiles.
void measure_until(std::int64_t tiles, const Plan& plan, Ledger& ledger) {
  std::atomic<std::int64_t> asked = 0;
  ExecutorOptions options;
  options.threads = 2;
  options.stop = [&] { return ++asked > tiles; };
  ThreadExecutor().measure(plan, ledger, options);
}

void measure_rest(const Plan& plan, Ledger& ledger) {
  ExecutorOptions options;
  options.threads = 2;
  ASSERT_TRUE(ThreadExecutor().measure(plan, ledger, options));
}

TEST(Checkpoint, ReadsBackBitForBit) {
  const Plan plan = small_plan(1237);
  const Shard shard{2, 3};
  Ledger ledger(plan, shard);
  measure_until(300, plan, ledger);
  const Checkpoint read = parse_checkpoint(checkpoint_text(small_identity(), ledger), "it");
  EXPECT_EQ(read.identity, small_identity());
  EXPECT_EQ(read.shard, shard);
  EXPECT_EQ(read.cells, cells_of(ledger));
}

TEST(Checkpoint, InterruptedAnywhereAndResumedEqualsTheWholeRun) {
  const ScratchFolder scratch;
  const Plan plan = small_plan(1237);
  Ledger whole(plan);
  measure_rest(plan, whole);
  std::mt19937_64 words(1);
  for (int repeat = 0; repeat < 25; ++repeat) {
    save_checkpoint(scratch.path(), small_identity(), Ledger(plan));
    for (int interruption = 0; interruption < 3; ++interruption) {
      auto checkpoint = load_checkpoint(scratch.path());
      ASSERT_TRUE(checkpoint);
      EXPECT_EQ(other_run_in(scratch.path(), *checkpoint, small_identity(), {}, plan), "");
      Ledger part(plan, {}, std::move(checkpoint->cells));
      measure_until(static_cast<std::int64_t>(words() % 1200), plan, part);
      save_checkpoint(scratch.path(), small_identity(), part);
    }
    Ledger resumed(plan, {}, load_checkpoint(scratch.path())->cells);
    measure_rest(plan, resumed);
    EXPECT_EQ(cells_of(resumed), cells_of(whole));
  }
}

TEST(Checkpoint, CutOffAtAnyLengthIsRefused) {
  const Plan plan = small_plan(40);
  Ledger ledger(plan);
  measure_rest(plan, ledger);
  const std::string text = checkpoint_text(small_identity(), ledger);
  for (std::size_t length = 0; length < text.size(); ++length) {
    ASSERT_THROW(parse_checkpoint(text.substr(0, length), "it"), DamagedCheckpoint) << length;
  }
  EXPECT_NO_THROW(parse_checkpoint(text, "it"));
}

TEST(Checkpoint, AnyChangedCharacterIsRefused) {
  const std::string text = checkpoint_text(small_identity(), Ledger(small_plan(40)));
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = static_cast<char>(other[i] ^ 1);
    ASSERT_THROW(parse_checkpoint(other, "it"), DamagedCheckpoint) << i;
  }
}

TEST(Checkpoint, AForeignFileIsRefusedAndLeftAsItIs) {
  const ScratchFolder scratch;
  put(scratch / std::string(kCheckpointName), "someone else's notes\n");
  EXPECT_THAT([&] { load_checkpoint(scratch.path()); },
              ThrowsMessage<DamagedCheckpoint>(HasSubstr("not a checkpoint of attnscale")));
  EXPECT_EQ(contents_of(scratch / std::string(kCheckpointName)), "someone else's notes\n");
}

TEST(Checkpoint, AFolderWithoutOneHasNone) {
  const ScratchFolder scratch;
  EXPECT_FALSE(load_checkpoint(scratch.path()));
}

TEST(Checkpoint, AnotherRunIsRefusedByTheNameOfWhatChanged) {
  const Plan plan = small_plan(1237);
  const Checkpoint checkpoint =
      parse_checkpoint(checkpoint_text(small_identity(), Ledger(plan)), "it");
  const auto refusal_of = [&](const RunIdentity& asked, Shard shard = {}) {
    return other_run_in("folder", checkpoint, asked, shard, plan);
  };
  EXPECT_EQ(refusal_of(small_identity()), "");
  EXPECT_EQ(refusal_of(changed("\"x\"", "\"another description\"")), "");
  EXPECT_EQ(refusal_of(changed("1237", "1238")),
            "folder holds another run: /experiments/0/queries is 1237 there and 1238 here");
  EXPECT_THAT(refusal_of(changed("[4, 16]", "[4, 32]")),
              HasSubstr("/experiments/0/d is [4,16] there and [4,32]"));
  EXPECT_THAT(refusal_of(changed("\"seed\": 7", "\"seed\": 8")),
              HasSubstr("/seed is 7 there and 8"));
  EXPECT_THAT(refusal_of(changed("\"queries\": 1237", "\"keys\": 2")),
              HasSubstr("/experiments/0/keys is nothing there and 2"));
  EXPECT_THAT(refusal_of({"1.0.1", small_identity().config}),
              HasSubstr("version is 1.0.0 there and 1.0.1"));
  EXPECT_THAT(refusal_of(small_identity(), {1, 3}), HasSubstr("the whole run, not shard 1 of 3"));
}

// The text with its first `from` replaced, under a hash that is right again.
std::string forged(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  text.replace(place, from.size(), to);
  text.resize(text.rfind("sha256 "));
  return text + "sha256 " + sha256_hex(text) + "\n";
}

// A line's first numbers, as they stand in the text.
std::string beginning_of_line(const std::string& text, const std::string& keyword, int words) {
  const std::size_t first = text.find("\n" + keyword + " ") + 1;
  std::size_t last = first;
  for (int i = 0; i <= words; ++i) last = text.find_first_of(" \n", last + 1);
  return text.substr(first, last - first);
}

TEST(Checkpoint, NumbersThatCannotBeAreRefusedWhateverTheHash) {
  const Plan plan = small_plan(40);
  Ledger ledger(plan);
  measure_rest(plan, ledger);
  const std::string text = checkpoint_text(small_identity(), ledger);
  EXPECT_NO_THROW(parse_checkpoint(forged(text, "shard 1 1", "shard 1 2"), "it"));
  for (const char* shard : {"shard 0 0", "shard 2 1", "shard -1 3", "shard 0 1"}) {
    EXPECT_THROW(parse_checkpoint(forged(text, "shard 1 1", shard), "it"), DamagedCheckpoint);
  }
  const std::string node = beginning_of_line(text, "node", 3);
  for (const char* other : {"node 63 0 2", "node -1 0 2", "node 0 -1 2", "node 61 9 2"}) {
    EXPECT_THROW(parse_checkpoint(forged(text, node, other), "it"), DamagedCheckpoint) << other;
  }
  const std::size_t first_node = text.find("\nnode ") + 1;
  const std::string whole_node = text.substr(first_node, text.find('\n', first_node) - first_node);
  EXPECT_THROW(parse_checkpoint(forged(text, whole_node, "node 0 0 0"), "it"), DamagedCheckpoint);
  const std::string counts = beginning_of_line(text, "counts", 4);
  const std::string bin = beginning_of_line(text, "counts", 3);
  EXPECT_THROW(parse_checkpoint(forged(text, counts, bin + " -1"), "it"), DamagedCheckpoint);
  const std::size_t first_counts = text.find("\ncounts ") + 1;
  const std::string line = text.substr(first_counts, text.find('\n', first_counts) - first_counts);
  EXPECT_THROW(parse_checkpoint(forged(text, line, "counts 0 0"), "it"), DamagedCheckpoint);
}

TEST(Checkpoint, MomentsOfOtherMetricsAreRefused) {
  const Plan plan = small_plan(40);
  Ledger ledger(plan);
  measure_rest(plan, ledger);
  std::vector<CellLedger> cells = cells_of(ledger);
  ASSERT_TRUE(fits_plan(cells, plan));
  FoldTree shortened;
  for (auto [node, moments] : cells[0].tree.pending()) {
    moments.pop_back();
    shortened.add(node, std::move(moments));
  }
  cells[0].tree = shortened;
  EXPECT_FALSE(fits_plan(cells, plan));
}

TEST(Checkpoint, CellsOfAnotherPlanAreRefused) {
  Ledger ledger(small_plan(1237));
  const Checkpoint checkpoint = parse_checkpoint(checkpoint_text(small_identity(), ledger), "it");
  EXPECT_TRUE(fits_plan(checkpoint.cells, small_plan(1237)));
  measure_rest(small_plan(1237), ledger);
  EXPECT_TRUE(fits_plan(cells_of(ledger), small_plan(1237)));
  EXPECT_FALSE(fits_plan(cells_of(ledger), small_plan(1200)));
  EXPECT_FALSE(fits_plan({}, small_plan(1237)));
}

}  // namespace
}  // namespace attnscale
