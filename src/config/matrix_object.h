// A matrix of given numbers: rows written in the config, or a file that it names.
#pragma once

#include <string>

#include "config/field.h"
#include "experiment/given_matrix.h"

namespace attnscale {

/// Rows of numbers, the path of a file of them, or {"file": path, "sha256": of its contents}; a
/// relative path starts at the folder of the value's source. Throws UserError if the rows or the
/// file are wrong, or where the file has another SHA-256.
void read_into(const JsonValue& value, const Field& field, GivenMatrix& matrix);

/// Empty for a matrix that is not given.
std::string json_text(const Field& field, const GivenMatrix& matrix);

/// The keywords of JSON Schema for a matrix, and for the object that names a file.
std::string matrix_shape(const Field& field);
std::string matrix_file_schema();

}  // namespace attnscale
