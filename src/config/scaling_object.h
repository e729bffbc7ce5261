// The list `scalings` of an experiment: scalings and presets by name, or objects that start from
// one and change it.
#pragma once

#include <string>
#include <vector>

#include "config/field.h"
#include "experiment/scaling_table.h"

namespace attnscale {

/// Reads the list. Throws UserError.
void read_into(const JsonValue& value, const Field& field, std::vector<Scaling>& scalings);

/// The list; a sweep is one object of it.
std::string json_text(const Field& field, const std::vector<Scaling>& scalings);

/// The keywords of JSON Schema for the list, and for an object of it.
std::string scalings_shape(const Field& field);
std::string scaling_schema();

}  // namespace attnscale
