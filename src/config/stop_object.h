// The object `stop` of an experiment: how precise is enough.
#pragma once

#include <cstdint>
#include <string>

#include "config/field.h"
#include "experiment/experiment.h"

namespace attnscale {

/// The most queries of a cell.
inline constexpr double kMostQueries = 1e15;

/// Reads the object; `min_queries` is 0 if it is not given. Throws UserError.
void read_into(const JsonValue& value, const Field& field, PrecisionTarget& target);

/// The fewest queries if the config does not give them.
std::int64_t usual_min_queries(const Experiment& experiment);

/// Exactly one error must be given, the target's metric and scaling be measured, and its queries
/// lie within the experiment's; `value` is the experiment. Throws UserError.
void check_stop(const JsonValue& value, const Experiment& experiment);

std::string json_text(const Field& field, const PrecisionTarget& target);

/// The keywords of JSON Schema for the key, and for the object.
std::string stop_shape(const Field& field);
std::string stop_schema();

}  // namespace attnscale
