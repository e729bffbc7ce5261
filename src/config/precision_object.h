// The key `precision` of a scaling.
#pragma once

#include <string>

#include "config/field.h"
#include "experiment/scaling.h"

namespace attnscale {

/// The key `precision` of a scaling: one format for all steps but the sum, or an object of steps.
void read_into(const JsonValue& value, const Field& field, PrecisionSteps& steps);
std::string json_text(const Field& field, const PrecisionSteps& steps);
std::string precision_shape(const Field& field);

}  // namespace attnscale
