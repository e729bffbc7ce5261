// NumPy's .npy, versions 1 to 3 of the format, strictly.
#pragma once

#include <string>

#include "io/tensor.h"
#include "io/whole_file.h"

namespace attnscale {

/// The array of a file that begins with "\x93NUMPY". Its numbers stay where they are. Throws
/// MatrixFileError with `name`, the byte, what was found and what to write instead.
Tensor read_npy(const MappedFile& file, const std::string& name);

}  // namespace attnscale
