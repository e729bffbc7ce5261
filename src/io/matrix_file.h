// Matrices in files: NumPy's .npy, mapped into memory, and CSV. Strict: a file that is not exactly
// a matrix of finite numbers is refused, with a message that says why. Knows nothing of queries and
// keys.
#pragma once

#include <filesystem>
#include <string>

#include "numerics/matrix.h"

namespace attnscale {

/// A matrix and what it was read from.
struct MatrixFile {
  Matrix matrix;
  std::string sha256;  ///< of the whole file, in hexadecimal
};

/// Opens `path`; a name that ends in .csv is CSV, any other file must be .npy.
///
/// .npy: versions 1, 2 and 3 of the format, <f2, <f4 or <f8 (or with > for <) in C order, shape
/// (rows, columns) or (heads, rows, columns); mapped, not copied, so it must not be changed while
/// it is used. CSV: numbers separated by commas, one row per line; a first line without any number
/// is a header. Every number must be finite.
///
/// Throws MatrixFileError (matrix_file_error.h) if the file is not such a matrix, and
/// std::system_error if it cannot be read.
MatrixFile open_matrix_file(const std::filesystem::path& path);

}  // namespace attnscale
