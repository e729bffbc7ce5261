// Threads that measure spans until there are none or the run is stopped. Where spans come from and
// where their results go is up to the executor.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "execution/block_queue.h"
#include "execution/ledger.h"
#include "experiment/measure_block.h"

namespace attnscale {

/// How workers get work and report it. All are called from any worker, several at once.
struct WorkerTasks {
  /// The next span; an empty one ends the worker. A function that waits must ask `stopped`
  /// meanwhile.
  std::function<std::optional<Span>(const StopSignal& stopped)> take;
  std::function<void(std::size_t cell, CellLedger part)> give;
  std::function<void(std::size_t cell, std::int64_t queries)> progress;  ///< may be empty
  StopSignal stop;  ///< asked between tiles; may be empty
};

class WorkerPool {
 public:
  /// Starts `threads` workers on `plan`, which must outlive the pool.
  WorkerPool(const Plan& plan, int threads, WorkerTasks tasks);

  /// Stops the workers, as `stop` would, and waits for them.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Waits until every worker has ended or the time is over; returns whether they have. Throws
  /// again what a worker threw, which ends the others as well.
  bool wait_for(std::chrono::milliseconds time);

 private:
  void run(const Plan& plan);
  void measure_spans(const Plan& plan);

  WorkerTasks tasks_;
  std::atomic<bool> stopped_ = false;
  StopSignal stop_;
  std::mutex mutex_;
  std::condition_variable ended_;
  int working_;
  std::exception_ptr failure_;
  std::vector<std::jthread> workers_;
};

}  // namespace attnscale
