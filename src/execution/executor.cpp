#include "execution/executor.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "experiment/fold_tree.h"

namespace attnscale {
namespace {

struct BlockTask {
  std::size_t cell;
  std::int64_t block;
};

// The blocks of all cells as one list, without holding it.
class BlockList {
 public:
  explicit BlockList(const Plan& plan) : plan_(plan) {}

  std::optional<BlockTask> take() {
    const std::lock_guard lock(mutex_);
    while (cell_ < plan_.cells.size() && block_ == plan_.cells[cell_].blocks) {
      ++cell_;
      block_ = 0;
    }
    if (cell_ == plan_.cells.size()) return std::nullopt;
    return BlockTask{cell_, block_++};
  }

 private:
  const Plan& plan_;
  std::mutex mutex_;
  std::size_t cell_ = 0;
  std::int64_t block_ = 0;
};

// What is kept of a cell while its blocks come in.
struct CellState {
  std::mutex mutex;
  FoldTree tree;
  CellCounts counts;
};

void work(const Plan& plan, const ExecutorOptions& options, const StopSignal& stop,
          BlockList& blocks, std::vector<CellState>& states) {
  while (!stop()) {
    const auto task = blocks.take();
    if (!task) return;
    const Cell& cell = plan.cells[task->cell];
    const Experiment& experiment = plan.config.experiments[cell.experiment];
    const auto values = measure_block(experiment, cell, plan.config.seed, task->block, stop);
    if (!values) return;
    CellMoments moments = moments_of(*values);
    CellCounts counts;
    counts.add(*values);
    {
      CellState& state = states[task->cell];
      const std::lock_guard lock(state.mutex);
      state.tree.add({0, task->block}, std::move(moments));
      state.counts.merge(counts);
    }
    if (options.progress) options.progress(task->cell, values->queries);
  }
}

}  // namespace

Measured measure_plan(const Plan& plan, const ExecutorOptions& options) {
  BlockList blocks(plan);
  std::vector<CellState> states(plan.cells.size());
  std::atomic<bool> ended = false;
  std::atomic<bool> failed = false;
  std::exception_ptr failure;
  const StopSignal stop = [&] {
    if (!ended && options.stop && options.stop()) ended = true;
    return ended || failed;
  };
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < options.threads; ++i) {
      workers.emplace_back([&] {
        try {
          work(plan, options, stop, blocks, states);
        } catch (...) {
          if (!failed.exchange(true)) failure = std::current_exception();
        }
      });
    }
  }
  if (failure) std::rethrow_exception(failure);

  Measured measured;
  measured.finished = !ended;
  if (ended) return measured;
  for (const CellState& state : states) {
    measured.tallies.push_back({state.tree.fold(), state.counts});
  }
  return measured;
}

}  // namespace attnscale
