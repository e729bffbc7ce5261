// What must hold within given numbers, and between them and their experiment.
#pragma once

#include <string>
#include <vector>

#include "config/json_document.h"
#include "experiment/experiment.h"

namespace attnscale {

/// What can be said before any number is read: whether shapes go together. Throws UserError at the
/// value that can be mended.
void check_sizes(const JsonValue& value, const Given& given);

/// The rest, once all numbers are known to be ones. Finds out the form of the mask.
void complete_given(const JsonValue& value, Given& given);

/// The same between them and their experiment, which `value` is. Adds to `warnings` what is allowed
/// but probably not meant.
void check_given(const JsonValue& value, const Experiment& experiment,
                 std::vector<std::string>& warnings);

}  // namespace attnscale
