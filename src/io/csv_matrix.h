// A matrix from the text of a CSV file. Private to io.
#pragma once

#include <string>
#include <string_view>

#include "numerics/matrix.h"

namespace attnscale {

/// Numbers with commas between them, one row a line, a first line without any number being a
/// header; one head. Throws MatrixFileError that names `name`, the line, what was found and what to
/// write instead.
Matrix read_csv_matrix(std::string_view text, const std::string& name);

}  // namespace attnscale
