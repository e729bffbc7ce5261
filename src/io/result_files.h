// The files of a run that depend on its config and seed alone: which there are, and all of them at
// once. What a file holds is in result_tables.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/result_row.h"
#include "io/atomic_file.h"

namespace attnscale {

/// The names of all files that result_files may give, and of those that it gives for a config.
std::vector<std::string> result_file_names();
std::vector<std::string> result_file_names(const Config& config);

/// The files that the config asks for: some always, histogram.csv only with a histogram, and so on.
std::vector<NamedBytes> result_files(const Config& config, const Results& results);

/// The rows in `folder` that the report shows. summary.csv must be there; the other files are read
/// if they exist. Throws as read_rows does.
Results read_results(const std::filesystem::path& folder);

}  // namespace attnscale
