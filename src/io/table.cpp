#include "io/table.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "io/json_text.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

// The text of a value in a file; nothing for a value that does not exist.
std::optional<std::string> text_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) {
    if (std::isfinite(*number)) return format_double(*number);
  }
  return std::nullopt;
}

void append_csv_field(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

// The text of a row's value in `column`.
std::optional<std::string> cell_text(const Column& column, const Value& value) {
  auto text = text_of(value);
  if (text || column.empty == Empty::kAllowed) return text;
  throw std::logic_error("column " + column.name + " has nothing where it always has a value");
}

}  // namespace

std::string format_double(double number) {
  if (number == 0 || std::abs(number) >= 0.1) return shortest(number);
  std::array<char, 32> text;
  const std::to_chars_result end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific);
  return {text.data(), end.ptr};
}

std::string cell_text(const Value& value) {
  return text_of(value).value_or("");
}

std::string to_csv(const Table& table) {
  std::string out;
  for (const Column& column : table.columns) {
    if (&column != &table.columns.front()) out += ',';
    append_csv_field(out, column.name);
  }
  out += '\n';
  for (const std::vector<Value>& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += ',';
      append_csv_field(out, cell_text(table.columns[i], row[i]).value_or(""));
    }
    out += '\n';
  }
  return out;
}

std::string to_json(const Table& table) {
  if (table.rows.empty()) return "[]\n";
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(quote(column.name) + ":");
  std::string out = "[";
  for (const std::vector<Value>& row : table.rows) {
    out += &row == &table.rows.front() ? "\n{" : ",\n{";
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += ',';
      out += names[i];
      const bool is_text = std::holds_alternative<std::string>(row[i]);
      const std::string text = cell_text(table.columns[i], row[i]).value_or("null");
      out += is_text ? quote(text) : text;
    }
    out += '}';
  }
  return out + "\n]\n";
}

}  // namespace attnscale
