// A matrix from the text of a CSV file. Private to io.
#pragma once

#include <string>
#include <string_view>

#include "numerics/matrix.h"

namespace attnscale {

/// Numbers separated by commas, one row per line; a first line without any number is a header. The
/// matrix has one head. Throws MatrixFileError with `name`, the line, what was found and what to
/// write instead.
Matrix read_csv_matrix(std::string_view text, const std::string& name);

}  // namespace attnscale
