// The numbers an experiment is given: rows written in the config, or files that it names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/json_document.h"
#include "experiment/experiment.h"

namespace attnscale {

/// Rows of numbers, the path of a file of them, or {"file": path, "sha256": of its contents}. A
/// relative path starts at `folder`, one of the command line (--set) at the working directory.
/// Throws UserError where the rows or the file are wrong, or where the file has another SHA-256.
GivenMatrix read_matrix(const JsonValue& value, const std::filesystem::path& folder);

/// What must hold between the given numbers and the rest of their experiment; `value` is the
/// experiment. Adds what is allowed but worth telling to `warnings`.
void check_given_experiment(const JsonValue& value, const Experiment& experiment,
                            std::vector<std::string>& warnings);

}  // namespace attnscale
