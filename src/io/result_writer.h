// Results in, files out: the files of a run that are a function of its config and seed alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/result_row.h"

namespace attnscale {

/// The names of all files that write_results may write.
std::vector<std::string> result_file_names();

/// Writes every result file that has something to say into `folder`, each one atomically, and
/// returns their names. Throws std::system_error that names the file.
std::vector<std::string> write_results(const std::filesystem::path& folder, const Results& results);

}  // namespace attnscale
