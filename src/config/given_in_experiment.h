// What must hold between the object `given` and its experiment.
#pragma once

#include <string>
#include <vector>

#include "config/json_document.h"
#include "experiment/experiment.h"

namespace attnscale {

/// Throws UserError at the value that can be mended; `value` is the experiment. Adds to `warnings`
/// what is allowed but probably not meant.
void check_given(const JsonValue& value, const Experiment& experiment,
                 std::vector<std::string>& warnings);

}  // namespace attnscale
