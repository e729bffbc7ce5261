// The end of a run, however its blocks were measured: estimates, files, what the reader sees.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "execution/ledger.h"
#include "experiment/plan.h"
#include "experiment/result_row.h"

namespace attnscale {

/// Everything the run found out, from a complete ledger of the whole run.
Results estimate_run(const Plan& plan, const Ledger& ledger);

/// Writes the result files and config.json into `folder`, each atomically, and returns their names.
std::vector<std::string> write_run(const std::filesystem::path& folder, const Config& config,
                                   const Results& results);

}  // namespace attnscale
