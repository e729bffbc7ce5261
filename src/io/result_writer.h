// Results in, files out: the files of a run that are a function of its config and seed alone.
#pragma once

#include <string>
#include <vector>

#include "experiment/result_row.h"
#include "io/atomic_file.h"

namespace attnscale {

/// The names of all files that result_files may give.
std::vector<std::string> result_file_names();

/// Every result file that has something to say, as it is to be written.
std::vector<NamedBytes> result_files(const Results& results);

}  // namespace attnscale
