// How far a run is, measured in expected processor seconds, a unit in which progress is even.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "execution/ledger.h"
#include "experiment/plan.h"
#include "report/progress.h"

namespace attnscale {

class RunProgress {
 public:
  /// Starts from what the ledger holds.
  RunProgress(const Plan& plan, const Ledger& ledger, ProgressForm form);
  ~RunProgress();
  RunProgress(const RunProgress&) = delete;
  RunProgress& operator=(const RunProgress&) = delete;

  /// Notes that queries of a cell were measured; from any thread.
  void add(std::size_t cell, std::int64_t queries);

  /// Notes that a cell ended with `queries` queries, perhaps early; from any thread.
  void cell_done(std::size_t cell, std::int64_t queries);

 private:
  struct CellCost {
    double seconds_per_query;
    std::int64_t open_queries;  // that a precision target may make needless
  };

  Progress progress_;
  std::mutex mutex_;
  std::vector<CellCost> costs_;
  WorkDone done_;
};

}  // namespace attnscale
