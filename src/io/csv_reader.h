// Reads CSV strictly by RFC 4180. Knows nothing of what the columns mean.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace attnscale
