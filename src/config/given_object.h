// The object `given` of an experiment: numbers to use instead of drawn ones, their
// matrices and what must hold between them and the rest of the experiment.
#pragma once

#include <string>
#include <vector>

#include "config/field.h"
#include "experiment/experiment.h"

namespace attnscale {

/// Reads the object and its files. Throws UserError.
void read_into(const JsonValue& value, const Field& field, Given& given);

/// The object in lines.
std::string json_text(const Field& field, const Given& given);

/// What must hold between the given numbers and the rest of their experiment; `value` is the
/// experiment. Adds to `warnings` what is allowed but probably not meant. Throws UserError.
void check_given(const JsonValue& value, const Experiment& experiment,
                 std::vector<std::string>& warnings);

/// The keywords of JSON Schema for the key, and for the object.
std::string given_shape(const Field& field);
std::string given_schema();

}  // namespace attnscale
