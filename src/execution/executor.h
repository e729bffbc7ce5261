// Who measures which block when. Results never depend on it: blocks are pure, moments fold in a
// fixed tree, counts merge in any order.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>

#include "execution/ledger.h"
#include "experiment/measure_block.h"
#include "experiment/plan.h"

namespace attnscale {

/// What a run asks of its executor. Functions may be empty; those marked so are called from any
/// thread, several at once.
struct ExecutorOptions {
  int threads = 1;  ///< of this process; with MPI of each rank
  StopSignal stop;  ///< asked between tiles, from any thread; true ends the run
  /// Called after blocks are done, from any thread, with the cell's place in the plan and the
  /// number of queries.
  std::function<void(std::size_t cell, std::int64_t queries)> progress;
  std::function<void(std::size_t cell)> cell_done;  ///< called once for each cell, from any thread
  /// Saves the ledger; called by the thread that called `measure`, every `checkpoint_interval`, or
  /// less often where saving takes more than a twentieth of the time. What it throws ends the run.
  std::function<void()> checkpoint;
  std::chrono::milliseconds checkpoint_interval{5000};
};

/// The one interface of this room: threads of one process, or many processes.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Measures what the ledger lacks of its share; true when it is complete, false if `stop`
  /// ended the run first. The block in progress is then abandoned. An exception in any thread ends
  /// the run and is thrown again here.
  virtual bool measure(const Plan& plan, Ledger& ledger, const ExecutorOptions& options) = 0;
};

/// Threads of this process.
class ThreadExecutor : public Executor {
 public:
  bool measure(const Plan& plan, Ledger& ledger, const ExecutorOptions& options) override;
};

/// Calls a function at most once an interval, and never for more than a twentieth of the time.
class CheckpointTimer {
 public:
  CheckpointTimer(std::function<void()> save, std::chrono::milliseconds interval)
      : save_(std::move(save)), interval_(interval), next_(Clock::now() + interval) {}

  void save_if_due() {
    const auto start = Clock::now();
    if (!save_ || start < next_) return;
    save_();
    const auto end = Clock::now();
    next_ = end + std::max<Clock::duration>(interval_, 19 * (end - start));
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::function<void()> save_;
  std::chrono::milliseconds interval_;
  Clock::time_point next_;
};

}  // namespace attnscale
