// The end of a run, however its blocks were measured: estimates, warnings and files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/manifest.h"
#include "config/user_error.h"
#include "execution/ledger.h"
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

/// Everything the run found out, from a complete ledger of the whole run. Empty if `stop` ended it;
/// `stop` is asked between cells and while samples are drawn.
std::optional<FinishedRun> estimate_run(const Plan& plan, const Ledger& ledger,
                                        const StopSignal& stop = nullptr);

/// Writes the result files and config.json into `folder`, each atomically, and returns their
/// entries of the manifest.
std::vector<ManifestFile> write_run(const std::filesystem::path& folder, const Config& config,
                                    const Results& results,
                                    const std::optional<Table>& coverage = std::nullopt);

}  // namespace attnscale
