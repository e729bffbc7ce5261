// A matrix in a CSV file. Private to io.
#pragma once

#include <string>
#include <string_view>

#include "io/tensor.h"

namespace attnscale {

/// Numbers separated by commas, one row per line; a first line without any number is a header. -inf
/// is a number here, which whoever reads the tensor may refuse. Throws MatrixFileError with `name`
/// and the line.
Tensor read_csv_matrix(std::string_view text, const std::string& name);

}  // namespace attnscale
