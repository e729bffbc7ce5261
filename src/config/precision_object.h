// The key `precision` of a scaling.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/field.h"
#include "experiment/scaling.h"

namespace attnscale {

/// One format for all steps but the sum, a named set of steps, or an object of them.
std::vector<std::string_view> precision_names();
void read_into(const JsonValue& value, const Field& field, PrecisionSteps& steps);
std::string json_text(const Field& field, const PrecisionSteps& steps);
std::string precision_shape(const Field& field);

}  // namespace attnscale
