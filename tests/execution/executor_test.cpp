#include "execution/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "execution/block_queue.h"
#include "support/small_plan.h"

namespace attnscale {
namespace {

using std::chrono::milliseconds;

ExecutorOptions with_threads(int threads) {
  ExecutorOptions options;
  options.threads = threads;
  return options;
}

// The tallies of all cells, in the plan's order; `finished` is false if `stop` ended the run.
struct Measured {
  bool finished = false;
  std::vector<CellTally> tallies;
};

Measured measure_plan(const Plan& plan, const ExecutorOptions& options) {
  Ledger ledger(plan);
  Measured measured;
  measured.finished = ThreadExecutor().measure(plan, ledger, options);
  if (measured.finished) measured.tallies = ledger.tallies();
  return measured;
}

TEST(Executor, AnyNumberOfThreadsGivesTheSameBits) {
  const Plan plan = small_plan(1237);
  const Measured one = measure_plan(plan, with_threads(1));
  ASSERT_TRUE(one.finished);
  for (const int threads : {2, 3, 7}) {
    const Measured many = measure_plan(plan, with_threads(threads));
    ASSERT_EQ(many.tallies.size(), one.tallies.size());
    for (std::size_t i = 0; i < one.tallies.size(); ++i) {
      EXPECT_EQ(many.tallies[i].moments, one.tallies[i].moments) << threads << " threads";
      EXPECT_EQ(many.tallies[i].counts, one.tallies[i].counts) << threads << " threads";
    }
  }
}

TEST(Executor, MeasuresEveryQueryOnce) {
  const Plan plan = small_plan(1237);
  std::atomic<std::int64_t> told = 0;
  std::atomic<int> cells_done = 0;
  ExecutorOptions options = with_threads(3);
  options.progress = [&told](std::size_t, std::int64_t queries) { told += queries; };
  options.cell_done = [&cells_done](std::size_t) { ++cells_done; };
  const Measured measured = measure_plan(plan, options);
  EXPECT_EQ(told, 2 * 1237);
  EXPECT_EQ(cells_done, 2);
  for (const CellTally& tally : measured.tallies) {
    EXPECT_EQ(tally.moments.at(0).count, 1237);
    EXPECT_EQ(tally.counts.metrics.at(0).sketch.count(), 1237);
  }
}

TEST(BlockQueue, HandsOutEveryBlockOnceAndInOrder) {
  const Plan plan = small_plan(1237);
  Ledger ledger(plan);
  BlockQueue queue(plan, ledger);
  const StopSignal waits_for_none = [] { return true; };
  for (std::size_t cell = 0; cell < plan.cells.size(); ++cell) {
    std::int64_t next = 0;
    while (next < plan.cells[cell].blocks) {
      const auto span = queue.take(waits_for_none);
      ASSERT_TRUE(span);
      ASSERT_EQ(span->cell, cell);
      ASSERT_EQ(span->blocks.first, next);
      ASSERT_GT(span->blocks.last, next);
      next = span->blocks.last;
    }
    EXPECT_EQ(next, plan.cells[cell].blocks);
  }
  EXPECT_FALSE(queue.take(waits_for_none));
}

void draw_block_slowly(const Draw& draw, const BlockAddress& address, std::int64_t queries,
                       const TileSink& sink) {
  draw_block_cheaply(draw, address, queries, [&sink](const ScoreTile& tile) {
    std::this_thread::sleep_for(milliseconds(1));
    return sink(tile);
  });
}

constexpr SamplerRow kSlowSampler{.name = "slow",
                                  .help = "for tests",
                                  .draws_entries = true,
                                  .nanoseconds = 1,
                                  .max_d = std::int64_t{1} << 30,
                                  .max_keys = std::int64_t{1} << 20,
                                  .can_draw = [](const Entries&) { return true; },
                                  .draw_block = draw_block_slowly};

TEST(Executor, AStopAbandonsTheBlockInProgress) {
  const Plan plan = small_plan(1 << 20, kSlowSampler);  // 35 minutes
  Ledger ledger(plan);
  const auto start = std::chrono::steady_clock::now();
  ExecutorOptions options = with_threads(2);
  options.stop = [start] { return std::chrono::steady_clock::now() - start > milliseconds(100); };
  EXPECT_FALSE(ThreadExecutor().measure(plan, ledger, options));
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(1000));
  EXPECT_EQ(ledger.queries_done() % 8, 0);
}

TEST(Executor, SavesWhileItMeasures) {
  const Plan plan = small_plan(400, kSlowSampler);
  Ledger ledger(plan);
  std::vector<std::int64_t> saved;
  ExecutorOptions options = with_threads(2);
  options.checkpoint = [&] { saved.push_back(ledger.queries_done()); };
  options.checkpoint_interval = milliseconds(60);
  EXPECT_TRUE(ThreadExecutor().measure(plan, ledger, options));
  ASSERT_GE(saved.size(), 2U);
  EXPECT_TRUE(std::is_sorted(saved.begin(), saved.end()));
  EXPECT_GT(saved.back(), 0);
}

void draw_block_until_it_fails(const Draw& draw, const BlockAddress& address, std::int64_t queries,
                               const TileSink& sink) {
  if (address.block == 50) throw std::runtime_error("block 50");
  draw_block_cheaply(draw, address, queries, sink);
}

constexpr SamplerRow kFailingSampler{.name = "failing",
                                     .help = "for tests",
                                     .draws_entries = true,
                                     .nanoseconds = 1,
                                     .max_d = std::int64_t{1} << 30,
                                     .max_keys = std::int64_t{1} << 20,
                                     .can_draw = [](const Entries&) { return true; },
                                     .draw_block = draw_block_until_it_fails};

TEST(Executor, AFailedBlockFailsTheRun) {
  const Plan plan = small_plan(1237, kFailingSampler);
  EXPECT_THROW(measure_plan(plan, with_threads(3)), std::runtime_error);
}

TEST(Executor, AFailedCheckpointFailsTheRun) {
  const Plan plan = small_plan(1 << 20, kSlowSampler);
  Ledger ledger(plan);
  ExecutorOptions options = with_threads(2);
  options.checkpoint = [] { throw std::runtime_error("no space left"); };
  options.checkpoint_interval = milliseconds(0);
  EXPECT_THROW(ThreadExecutor().measure(plan, ledger, options), std::runtime_error);
}

}  // namespace
}  // namespace attnscale
