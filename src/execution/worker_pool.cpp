#include "execution/worker_pool.h"

#include <string>
#include <system_error>
#include <utility>

namespace attnscale {
namespace {

// Measures the blocks of a span, all of them unless the run is stopped.
CellLedger measure_span(const Plan& plan, const Span& span, const WorkerTasks& tasks,
                        const StopSignal& stop) {
  const Cell& cell = plan.cells[span.cell];
  const Experiment& experiment = plan.experiment_of(cell);
  BlockMeasurer measurer(experiment, cell, plan.config.seed);
  CellLedger part;
  for (std::int64_t block = span.blocks.first; block < span.blocks.last; ++block) {
    const BlockValues* const values = measurer.measure(block, stop);
    if (!values) break;
    part.add(block, *values);
    if (tasks.progress) tasks.progress(span.cell, values->queries);
  }
  return part;
}

}  // namespace

WorkerPool::WorkerPool(const Plan& plan, int threads, WorkerTasks tasks)
    : tasks_(std::move(tasks)), working_(threads) {
  stop_ = [this] {
    if (!stopped_ && tasks_.stop && tasks_.stop()) stopped_ = true;
    return stopped_.load();
  };
  try {
    for (int i = 0; i < threads; ++i) workers_.emplace_back([this, &plan] { run(plan); });
  } catch (const std::system_error& error) {
    stopped_ = true;  // those that did start end at once
    throw std::system_error(error.code(), "cannot start " + std::to_string(threads) +
                                              " threads; ask for fewer with --threads");
  }
}

WorkerPool::~WorkerPool() {
  stopped_ = true;
}

bool WorkerPool::wait_for(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  const bool ended = ended_.wait_for(lock, time, [this] { return working_ == 0; });
  if (ended && failure_) std::rethrow_exception(failure_);
  return ended;
}

void WorkerPool::run(const Plan& plan) {
  std::exception_ptr failure;
  try {
    measure_spans(plan);
  } catch (...) {
    failure = std::current_exception();
    stopped_ = true;
  }
  const std::lock_guard lock(mutex_);
  if (failure && !failure_) failure_ = failure;
  if (--working_ == 0) ended_.notify_all();
}

void WorkerPool::measure_spans(const Plan& plan) {
  while (!stop_()) {
    const auto span = tasks_.take(stop_);
    if (!span) return;
    CellLedger part = measure_span(plan, *span, tasks_, stop_);
    if (!part.done.empty()) tasks_.give(span->cell, std::move(part));
  }
}

}  // namespace attnscale
