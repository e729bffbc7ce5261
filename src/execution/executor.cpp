#include "execution/executor.h"

#include <utility>

#include "execution/block_queue.h"
#include "execution/worker_pool.h"

namespace attnscale {

bool ThreadExecutor::measure(const Plan& plan, Ledger& ledger, const ExecutorOptions& options) {
  constexpr std::chrono::milliseconds kTick{50};
  BlockQueue queue(plan, ledger);
  CheckpointTimer timer(options.checkpoint, options.checkpoint_interval);
  WorkerTasks tasks;
  tasks.take = [&queue](const StopSignal& stopped) { return queue.take(stopped); };
  tasks.give = [&](std::size_t cell, const CellLedger& part) {
    if (queue.merge(cell, part) && options.cell_done) options.cell_done(cell);
  };
  tasks.progress = options.progress;
  tasks.stop = options.stop;
  WorkerPool pool(plan, options.threads, std::move(tasks));
  while (!pool.wait_for(kTick)) timer.save_if_due();
  return ledger.is_complete();
}

}  // namespace attnscale
