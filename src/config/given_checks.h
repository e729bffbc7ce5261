// What must hold within given numbers.
#pragma once

#include "config/json_document.h"
#include "experiment/experiment.h"

namespace attnscale {

/// Throws UserError at the value that can be mended. Finds out the form of the mask.
void complete_given(const JsonValue& value, Given& given);

}  // namespace attnscale
