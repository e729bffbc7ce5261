// The object `given` of an experiment: numbers to use instead of drawn ones, their
// matrices and what must hold between them and the rest of the experiment.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/experiment.h"

namespace attnscale {

struct JsonValue;

/// Reads the object and its files. A relative path starts at `folder`, one of the command line
/// (--set) at the working directory. Throws UserError where a value, a row or a file is wrong, or
/// where a file has another SHA-256.
Given read_given(const JsonValue& value, const std::filesystem::path& folder);

/// What must hold between the given numbers and the rest of their experiment; `value` is the
/// experiment. Adds what is allowed but worth telling to `warnings`. Throws UserError.
void check_given(const JsonValue& value, const Experiment& experiment,
                 std::vector<std::string>& warnings);

/// The object in lines that begin at `indent`.
std::string given_text(const Given& given, const std::string& indent);

/// The keywords of JSON Schema for the object.
std::string given_schema();

}  // namespace attnscale
