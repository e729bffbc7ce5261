// The object `given` of an experiment, and the objects in it that name files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/field.h"
#include "experiment/experiment.h"

namespace attnscale {

/// The object `given`: numbers to use instead of drawn ones, with their files.
void read_into(const JsonValue& value, const Field& field, Given& given);
std::string json_text(const Field& field, const Given& given);

/// The keys of the object.
std::vector<std::string_view> given_keys();

/// The keywords of JSON Schema for the object, and for the object that names a file.
std::string given_schema();
std::string matrix_file_schema();

}  // namespace attnscale
