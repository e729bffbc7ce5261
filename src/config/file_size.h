// How large a file of results may get.
#pragma once

#include <string_view>

#include "config/json_document.h"

namespace attnscale {

/// Throws UserError at the value that asks for the file if it would have more than 10 million lines
/// or a gibibyte; a line has so many numbers besides the columns that name it.
void check_file_size(const JsonValue& value, std::string_view file, double lines, double numbers);

}  // namespace attnscale
