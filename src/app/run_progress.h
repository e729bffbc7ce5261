// How far a run is, measured in expected processor seconds, a unit in which progress is even.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "estimate/given_baseline.h"
#include "execution/ledger.h"
#include "experiment/given.h"
#include "experiment/given_scores.h"
#include "experiment/plan.h"
#include "report/progress.h"

namespace attnscale {

class RunProgress {
 public:
  /// Starts from what the ledger holds.
  RunProgress(const Plan& plan, const Ledger& ledger, ProgressForm form)
      : progress_(resolve_progress_form(form, STDERR_FILENO),
                  colour_is_welcome(STDERR_FILENO) ? Colour::kGreen : Colour::kNone,
                  stderr_surroundings()) {
    const std::vector<double> seconds = expected_seconds(plan);
    for (std::size_t i = 0; i < plan.cells.size(); ++i) {
      const Cell& cell = plan.cells[i];
      const double per_query = seconds[i] / static_cast<double>(cell.queries);
      const BlockSet missing = ledger.missing(i);
      std::int64_t all = cell.queries;
      std::int64_t done = all - std::min(all, missing.size() * cell.block_queries);
      const bool has_target = plan.experiment_of(cell).stop.has_value();
      if (has_target) {
        // What is missing now need not be all that will be.
        done = ledger.queries_done(i);
        if (missing.empty()) all = done;
      }
      costs_.push_back({per_query, has_target ? all : 0});
      done_.total_work += per_query * static_cast<double>(all);
      done_.work += per_query * static_cast<double>(done);
    }
    for (const Experiment& experiment : plan.config.experiments) {
      given_.push_back(0);
      if (!experiment.given) continue;
      const double all = expected_given_seconds(experiment);
      const Given& given = *experiment.given;
      given_.back() = all / static_cast<double>(head_count(given) * query_count(given));
      done_.total_work += all + expected_baseline_seconds(experiment);
    }
    done_.queries = ledger.queries_done();
    progress_.update(done_);
  }

  ~RunProgress() { progress_.finish(); }
  RunProgress(const RunProgress&) = delete;
  RunProgress& operator=(const RunProgress&) = delete;

  /// Notes that queries of a cell were measured; from any thread.
  void add(std::size_t cell, std::int64_t queries) {
    const std::lock_guard lock(mutex_);
    done_.work += costs_[cell].seconds_per_query * static_cast<double>(queries);
    done_.queries += queries;
    progress_.update(done_);
  }

  /// Notes that queries of given numbers were measured; from any thread.
  void add_given(std::size_t experiment, std::int64_t queries) {
    const std::lock_guard lock(mutex_);
    done_.work += given_[experiment] * static_cast<double>(queries);
    done_.queries += queries;
    progress_.update(done_);
  }

  /// Notes that a cell ended with `queries` queries, perhaps early; from any thread.
  void cell_done(std::size_t cell, std::int64_t queries) {
    const std::lock_guard lock(mutex_);
    const auto& [seconds_per_query, open_queries] = costs_[cell];
    if (open_queries == 0) return;
    done_.total_work -= seconds_per_query * static_cast<double>(open_queries - queries);
    progress_.update(done_);
  }

 private:
  struct CellCost {
    double seconds_per_query;
    std::int64_t open_queries;  // that a precision target may make needless
  };

  Progress progress_;
  std::mutex mutex_;
  std::vector<CellCost> costs_;
  std::vector<double> given_;  // seconds per query, of each experiment
  WorkDone done_;
};

}  // namespace attnscale
