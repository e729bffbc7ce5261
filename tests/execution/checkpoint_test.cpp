#include "execution/checkpoint.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>

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
  EXPECT_EQ(read_cells(read, plan), cells_of(ledger));
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
      const auto checkpoint = load_checkpoint(scratch.path());
      ASSERT_TRUE(checkpoint);
      EXPECT_EQ(other_run_in(scratch.path(), *checkpoint, small_identity(), {}), "");
      Ledger part(plan, {}, read_cells(*checkpoint, plan));
      measure_until(static_cast<std::int64_t>(words() % 1200), plan, part);
      save_checkpoint(scratch.path(), small_identity(), part);
    }
    Ledger resumed(plan, {}, read_cells(*load_checkpoint(scratch.path()), plan));
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
    return other_run_in("folder", checkpoint, asked, shard);
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

// The line that follows `keyword`, the first of its kind.
std::string line_of(const std::string& text, const std::string& keyword) {
  const std::size_t first = text.find("\n" + keyword + " ") + 1;
  return text.substr(first, text.find('\n', first) - first);
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string in_bits(double number) {
  return fmt::format("{:x}", std::bit_cast<std::uint64_t>(number));
}

// A whole run of a small plan, as text.
class ForgedCheckpoint : public testing::Test {
 protected:
  ForgedCheckpoint() {
    measure_rest(plan_, ledger_);
    text_ = checkpoint_text(small_identity(), ledger_);
  }

  void read(const std::string& text) const { read_cells(parse_checkpoint(text, "it"), plan_); }

  // Whether it is refused with word number `place` of the first line `keyword` replaced.
  bool refuses(const std::string& keyword, std::size_t place, const std::string& word) const {
    const std::string line = line_of(text_, keyword);
    std::vector<std::string> words = words_of(line);
    words.at(place) = word;
    try {
      read(forged(text_, line, fmt::format("{}", fmt::join(words, " "))));
      return false;
    } catch (const DamagedCheckpoint&) {
      return true;
    }
  }

  const Plan plan_ = small_plan(40);
  Ledger ledger_{plan_};
  std::string text_;
};

TEST_F(ForgedCheckpoint, NumbersThatCannotBeAreRefusedWhateverTheHash) {
  EXPECT_NO_THROW(read(forged(text_, "shard 1 1", "shard 1 2")));
  for (const char* shard : {"shard 0 0", "shard 2 1", "shard -1 3", "shard 0 1"}) {
    EXPECT_THROW(read(forged(text_, "shard 1 1", shard)), DamagedCheckpoint);
  }
  const std::string node = beginning_of_line(text_, "node", 3);
  for (const char* other : {"node 63 0 2", "node -1 0 2", "node 0 -1 2", "node 61 9 2"}) {
    EXPECT_THROW(read(forged(text_, node, other)), DamagedCheckpoint) << other;
  }
  EXPECT_THROW(read(forged(text_, line_of(text_, "node"), "node 0 0 0")), DamagedCheckpoint);
  const std::string counts = beginning_of_line(text_, "counts", 4);
  const std::string bin = beginning_of_line(text_, "counts", 3);
  EXPECT_THROW(read(forged(text_, counts, bin + " -1")), DamagedCheckpoint);
  EXPECT_THROW(read(forged(text_, line_of(text_, "counts"), "counts 0 0")), DamagedCheckpoint);
}

// The groups of the first cell: 5 blocks in two nodes; logit_sd, top_weight and slope under two
// scalings; two histograms.
TEST_F(ForgedCheckpoint, GroupsOfAnotherExperimentAreRefused) {
  EXPECT_EQ(line_of(text_, "cell"), "cell 2 4 4");
  EXPECT_FALSE(refuses("cell", 1, "2"));
  for (const char* other : {"0", "1", "3", "4294967296"}) {
    for (std::size_t place = 1; place <= 3; ++place) {
      EXPECT_TRUE(refuses("cell", place, other)) << place << ": " << other;
    }
    EXPECT_TRUE(refuses("node", 3, other));
    EXPECT_TRUE(refuses("node", 4, other));
    EXPECT_TRUE(refuses("cells", 1, other));
  }
  for (const char* blocks : {"done 0 5 5 6", "done 0 3 2 5", "done 3 5 0 3", "done 0 4"}) {
    EXPECT_THROW(read(forged(text_, line_of(text_, "done"), blocks)), DamagedCheckpoint) << blocks;
  }
}

// Words of a line of counts: the extremes of the top weight.
TEST_F(ForgedCheckpoint, ExtremesThatAreNotWhereTheCountsAreAreRefused) {
  const std::vector<std::string> words = words_of(line_of(text_, "counts"));
  for (const std::size_t place : {std::size_t{1}, std::size_t{2}}) {
    EXPECT_FALSE(refuses("counts", place, words[place]));
    for (const double other :
         {0.0, -1.0, 1.5, 1e300, 0.24, 0.99999, std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
      EXPECT_TRUE(refuses("counts", place, in_bits(other))) << place << ": " << other;
    }
  }
}

// Words of the first node: NODE LEVEL INDEX GROUPS, then for the logits 2 powers: DIMENSION COUNT
// LEFT_OUT, 2 means, 2 units, 3 sums; then for the top weight: DIMENSION COUNT LEFT_OUT, mean,
// unit, sum.
TEST_F(ForgedCheckpoint, SumsThatSuchNumbersCannotHaveAreRefused) {
  const std::vector<std::string> words = words_of(line_of(text_, "node"));
  ASSERT_EQ(words[4], "2");
  ASSERT_EQ(words[14], "1");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double other : {nan, std::numeric_limits<double>::infinity()}) {
    for (const std::size_t place : {7, 9, 17, 18, 19}) {
      EXPECT_FALSE(refuses("node", place, words[place]));
      EXPECT_TRUE(refuses("node", place, in_bits(other))) << place << ": " << other;
    }
  }
  for (const std::size_t place : {6, 16}) {
    EXPECT_FALSE(refuses("node", place, "0"));
    for (const char* other : {"1", "-1", "9007199254740993"}) {
      EXPECT_TRUE(refuses("node", place, other)) << place << ": " << other;
    }
  }
  for (const double mean : {-0.1, 0.0, 1.1}) EXPECT_TRUE(refuses("node", 17, in_bits(mean)));
  for (const double squares : {-1e-9, 1e3}) EXPECT_TRUE(refuses("node", 19, in_bits(squares)));
  for (const std::size_t place : {11, 13}) EXPECT_TRUE(refuses("node", place, in_bits(-1e-9)));
  for (const double unit : {0.0, -1.0, 3.0}) EXPECT_TRUE(refuses("node", 10, in_bits(unit)));
}

TEST(Checkpoint, CellsOfAnotherPlanAreRefused) {
  const Plan plan = small_plan(1237);
  Ledger ledger(plan);
  const auto reading_by = [&](const Plan& other) {
    return [&] {
      read_cells(parse_checkpoint(checkpoint_text(small_identity(), ledger), "it"), other);
    };
  };
  EXPECT_NO_THROW(reading_by(plan)());
  measure_rest(plan, ledger);
  EXPECT_NO_THROW(reading_by(plan)());
  EXPECT_THROW(reading_by(small_plan(1200))(), DamagedCheckpoint);
  EXPECT_THROW(reading_by({})(), DamagedCheckpoint);
}

}  // namespace
}  // namespace attnscale
