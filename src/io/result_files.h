// The files of a run that depend on its config and seed alone: which there are, and all of them at
// once. What a file holds is in result_tables.h.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/result_row.h"
#include "io/atomic_file.h"
#include "io/table.h"

namespace attnscale {

/// The names of all files that result_files may give, and of those that it gives for a config.
std::vector<std::string> result_file_names();
std::vector<std::string> result_file_names(const Config& config);

/// What a pool of runs has beside their files.
inline constexpr const char* kCoverageName = "coverage.csv";

/// The files that the config asks for: some always, histogram.csv only with a histogram, and so on;
/// and coverage.csv if there is such a table.
std::vector<NamedBytes> result_files(const Config& config, const Results& results,
                                     const std::optional<Table>& coverage = std::nullopt);

/// The rows in `folder` that the report shows. summary.csv must be there; the other files are read
/// if they exist. Throws as read_rows does.
Results read_results(const std::filesystem::path& folder);

}  // namespace attnscale
