// The list `scalings` of an experiment.
#pragma once

#include <string>
#include <vector>

#include "config/field.h"
#include "experiment/scaling.h"

namespace attnscale {

/// The list `scalings`: scalings and presets by name, or objects that start from one and change it.
/// A sweep is one object of the list.
void read_into(const JsonValue& value, const Field& field, std::vector<Scaling>& scalings);
std::string json_text(const Field& field, const std::vector<Scaling>& scalings);

/// The keywords of JSON Schema for the list, and for an object of it.
std::string scalings_shape(const Field& field);
std::string scaling_schema();

/// The same for the key `presets` of a config.
std::string presets_shape();

}  // namespace attnscale
