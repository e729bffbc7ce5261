// What must hold within given numbers, and between them and their experiment.
#pragma once

#include <string>
#include <vector>

#include "config/json_document.h"
#include "experiment/experiment.h"

namespace attnscale {

/// Throws UserError at the value that can be mended. Finds out the form of the mask.
void complete_given(const JsonValue& value, Given& given);

/// The same between them and their experiment, which `value` is. Adds to `warnings` what is allowed
/// but probably not meant.
void check_given(const JsonValue& value, const Experiment& experiment,
                 std::vector<std::string>& warnings);

}  // namespace attnscale
