#include "app/run_progress.h"

#include <unistd.h>

#include <algorithm>

namespace attnscale {

RunProgress::RunProgress(const Plan& plan, const Ledger& ledger, const RunCommand& command)
    : progress_(resolve_progress_form(command.verbosity == Verbosity::kQuiet ? ProgressForm::kNever
                                                                             : command.progress,
                                      STDERR_FILENO),
                colour_is_welcome(STDERR_FILENO) ? Colour::kGreen : Colour::kNone,
                stderr_surroundings()) {
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    const Cell& cell = plan.cells[i];
    const double seconds = expected_seconds(plan.config.experiments[cell.experiment], cell);
    const double per_query = seconds / static_cast<double>(cell.queries);
    seconds_per_query_.push_back(per_query);
    const std::int64_t missing =
        std::min(cell.queries, ledger.missing(i).size() * cell.block_queries);
    done_.total_work += seconds;
    done_.work += per_query * static_cast<double>(cell.queries - missing);
  }
  done_.queries = ledger.queries_done();
  progress_.update(done_);
}

RunProgress::~RunProgress() {
  progress_.finish();
}

void RunProgress::add(std::size_t cell, std::int64_t queries) {
  const std::lock_guard lock(mutex_);
  done_.work += seconds_per_query_[cell] * static_cast<double>(queries);
  done_.queries += queries;
  progress_.update(done_);
}

}  // namespace attnscale
