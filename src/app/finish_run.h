// The end of a run, however its blocks were measured: estimates, warnings and files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/manifest.h"
#include "config/user_error.h"
#include "execution/ledger.h"
#include "experiment/group_runner.h"
#include "experiment/measure_block.h"
#include "experiment/plan.h"
#include "experiment/result_row.h"
#include "io/table.h"

namespace attnscale {

/// What a run found out, and what its reader should know about it, one sentence each.
struct FinishedRun {
  Results results;
  std::vector<std::string> warnings;
  ExitCode exit_code = ExitCode::kDone;  ///< or kTargetNotReached
};

struct EndOptions {
  StopSignal stop = nullptr;         ///< asked between cells, while samples are drawn, and more
  GroupRunner run = run_one_by_one;  ///< of given numbers
  /// Called when queries of given numbers were measured, with the place of their experiment.
  std::function<void(std::size_t experiment, std::int64_t queries)> progress = nullptr;
};

/// Everything the run found out, from a complete ledger of the whole run. Empty if `stop` ended it.
std::optional<FinishedRun> estimate_run(const Plan& plan, const Ledger& ledger,
                                        const EndOptions& options = {});

/// Writes the result files and config.json into `folder`, each atomically, and returns their
/// entries of the manifest.
std::vector<ManifestFile> write_run(const std::filesystem::path& folder, const Config& config,
                                    const Results& results,
                                    const std::optional<Table>& coverage = std::nullopt);

}  // namespace attnscale
