// Results in, files out: those files of a run that depend on its config and seed alone.
#pragma once

#include <string>
#include <vector>

#include "experiment/result_row.h"
#include "io/atomic_file.h"

namespace attnscale {

/// The names of all files that result_files may give.
std::vector<std::string> result_file_names();

/// The files to write: some always, the others only if they have lines.
std::vector<NamedBytes> result_files(const Results& results);

}  // namespace attnscale
