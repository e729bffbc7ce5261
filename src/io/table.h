// A table of named columns, and the ways it leaves the program: CSV, JSON, text on the screen.
// Knows nothing of what the columns mean.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace attnscale {

/// One value of a table; std::monostate is a value that does not exist, an empty cell.
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows;  ///< each as long as `columns`
};

/// The shortest text that reads back as exactly `number` (finite): scientific below 0.1, so that
/// readers which mishandle long decimals read it right.
std::string format_double(double number);

/// RFC 4180 with LF line ends: header first, a field quoted only where it must be.
std::string to_csv(const Table& table);

/// A JSON array of flat objects, one line each; a value that does not exist is null.
std::string to_json(const Table& table);

}  // namespace attnscale
