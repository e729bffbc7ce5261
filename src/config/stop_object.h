// The object `stop` of an experiment: how precise is enough.
#pragma once

#include <string>

#include "config/field.h"
#include "experiment/experiment.h"

namespace attnscale {

/// Reads the object; `min_queries` is 0 if it is not given.
void read_into(const JsonValue& value, const Field& field, PrecisionTarget& target);
std::string json_text(const Field& field, const PrecisionTarget& target);
std::string stop_schema();

/// Exactly one error must be given, its metric and scaling be measured, and its queries lie within
/// the experiment's; `min_queries` gets its default. `value` is the experiment.
void complete_stop(const JsonValue& value, Experiment& experiment);

}  // namespace attnscale
