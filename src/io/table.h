// A table of named columns, and its text as CSV and as JSON.
// Knows nothing of what the columns mean.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace attnscale {

/// One value of a table; std::monostate is a value that does not exist, an empty cell.
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

/// Whether a column may have empty cells.
enum class Empty { kNever, kAllowed };

enum class ColumnType { kText, kInteger, kNumber };

struct Column {
  Column(std::string column_name, Empty may_be_empty = Empty::kAllowed,
         ColumnType of_type = ColumnType::kNumber)
      : name(std::move(column_name)), empty(may_be_empty), type(of_type) {}
  Column(const char* column_name) : Column(std::string(column_name)) {}

  std::string name;
  Empty empty;
  ColumnType type;
  std::string title = {}, unit = {}, description = {};  ///< for a data package; may be empty

  friend bool operator==(const Column&, const Column&) = default;
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Value>> rows;  ///< each as long as `columns`
};

/// The shortest text that reads back as exactly `number`, which must be finite. Below 0.1 in
/// magnitude it is scientific ("7.7e-07", "5e-02"), so that programs which count leading zeros as
/// digits lose none; from 0.1 on it is as `shortest` writes it: "0.25", "123456789", "1e+05". Zero
/// is "0", and "-0" keeps its sign. Depends on nothing but the number: no locale.
std::string format_double(double number);

/// A value as it stands in a file, before quotes; empty if it does not exist or is not finite.
std::string cell_text(const Value& value);

/// RFC 4180 with LF line ends: header first, a field is quoted only if it must be. A number that is
/// not finite is an empty field, never a token that turns a reader's column into text. Throws
/// std::logic_error for an empty field in a column that has none: nobody could read the file.
std::string to_csv(const Table& table);

/// A JSON array of flat objects, one line each. A value that does not exist, and a number that is
/// not finite, is null. Throws as to_csv does.
std::string to_json(const Table& table);

}  // namespace attnscale
