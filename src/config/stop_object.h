// The object `stop` of an experiment: how precise is enough.
#pragma once

#include <cstdint>
#include <string>

#include "experiment/experiment.h"

namespace attnscale {

struct JsonValue;

/// The most queries of a cell.
inline constexpr double kMostQueries = 1e15;

/// Reads the object of an experiment of so many queries. Throws UserError.
PrecisionTarget read_stop(const JsonValue& value, std::int64_t queries);

/// Exactly one error must be said, the target's metric and scaling be measured, and its queries lie
/// within the experiment's; `value` is the experiment. Throws UserError.
void check_stop(const JsonValue& value, const Experiment& experiment);

std::string stop_text(const PrecisionTarget& target);

/// The keywords of JSON Schema for the object.
std::string stop_schema();

}  // namespace attnscale
