// Reads CSV strictly by RFC 4180, and matrices of numbers in it. Knows nothing of what the columns
// mean.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/tensor.h"

namespace attnscale {

struct CsvRecord {
  std::size_t line;                 ///< where it begins, from 1
  std::vector<std::string> fields;  ///< as many as the file has columns
};

struct CsvFile {
  std::vector<std::string> columns;
  std::vector<CsvRecord> records;
};

/// Parses `text`; lines end with LF or CRLF. Throws std::runtime_error "NAME:LINE: what is wrong",
/// with `name`: no header, a last line without its end (the file was cut off), a quote out of
/// place, a record longer or shorter than the header.
CsvFile parse_csv(std::string_view text, const std::string& name);

/// Reads and parses a file. Throws std::system_error if it cannot be read.
CsvFile read_csv(const std::filesystem::path& path);

/// Numbers separated by commas, one row per line, after a byte-order mark if there is one; a first
/// line of names is a header, and a name does not begin as numbers do. -inf is a number here, which
/// whoever reads the tensor may refuse. Throws MatrixFileError with `name` and the line.
Tensor read_csv_matrix(std::string_view text, const std::string& name);

}  // namespace attnscale
