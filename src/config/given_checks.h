// What must hold within given numbers, and between them and their experiment.
// Throws UserError at the value that can be mended.
#pragma once

#include <string>
#include <vector>

#include "config/json_document.h"
#include "experiment/experiment.h"

namespace attnscale {

/// What must hold within the given numbers, where the form of the mask is found.
void complete_given(const JsonValue& value, Given& given);

/// The given numbers against the rest of the experiment; `value` is the experiment. Adds to
/// `warnings` what is allowed but probably not meant.
void check_given(const JsonValue& value, const Experiment& experiment,
                 std::vector<std::string>& warnings);

}  // namespace attnscale
