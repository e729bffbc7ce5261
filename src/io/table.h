// A table of named columns, and its text as CSV and as JSON.
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

/// The shortest text that reads back as exactly `number`, which must be finite. Below 0.1 in
/// magnitude it is scientific ("7.7e-07", "5e-02"), so that programs which count leading zeros as
/// digits lose none; from 0.1 on it is as `shortest` writes it: "0.25", "123456789", "1e+05". Zero
/// is "0", and "-0" keeps its sign. Depends on nothing but the number: no locale.
std::string format_double(double number);

/// RFC 4180 with LF line ends: header first, a field is quoted only if it must be. A number that is
/// not finite is an empty field, never a token that turns a reader's column into text.
std::string to_csv(const Table& table);

/// A JSON array of flat objects, one line each. A value that does not exist, and a number that is
/// not finite, is null.
std::string to_json(const Table& table);

}  // namespace attnscale
