// The header of a NumPy .npy file, versions 1 to 3, strictly: what is not a matrix of half,
// single or double precision is refused. Private to io.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "numerics/matrix.h"

namespace attnscale {

struct NpyHeader {
  NumberFormat format = NumberFormat::kFloat64;
  std::endian order = std::endian::little;  ///< of the bytes of each number
  std::int64_t heads = 1;                   ///< 1 for a matrix of two dimensions
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t bytes = 0;  ///< of the header: where the numbers begin
};

/// Reads the header at the beginning of `file`, the bytes of a whole file or at least those of its
/// header. Throws MatrixFileError (io/matrix_file_error.h) with `name`, the byte, what was found
/// and what to write instead.
NpyHeader read_npy_header(std::string_view file, const std::string& name);

}  // namespace attnscale
