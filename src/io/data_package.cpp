#include "io/data_package.h"

#include <fmt/core.h>

#include <cctype>
#include <map>

#include "io/json_text.h"
#include "io/sha256.h"

namespace attnscale {
namespace {

std::string said(std::string_view key, std::string_view text) {
  return member_text(key, quote(text));
}

// Members in one line, without those that are empty.
std::string object(std::vector<std::string> members) {
  std::erase(members, "");
  return object_text(members);
}

std::string list(const std::vector<std::string>& items, std::string_view indent) {
  std::string text;
  for (const std::string& item : items) {
    text += fmt::format("{}\n{}  {}", text.empty() ? "" : ",", indent, item);
  }
  return fmt::format("[{}\n{}]", text, indent);
}

std::string_view frictionless_type(ColumnType type) {
  switch (type) {
    case ColumnType::kText:
      return "string";
    case ColumnType::kInteger:
      return "integer";
    case ColumnType::kNumber:
      break;
  }
  return "number";
}

std::string cells_hash(const Table& table, std::size_t column) {
  std::string cells;
  for (const std::vector<Value>& row : table.rows) cells += cell_text(row[column]) + "\n";
  return sha256_hex(cells);
}

std::string field_text(const Table& table, std::size_t index) {
  const Column& column = table.columns[index];
  return object({said("name", column.name), said("type", frictionless_type(column.type)),
                 column.unit.empty() ? "" : said("unit", column.unit), said("title", column.title),
                 said("description", column.description),
                 column.empty == Empty::kNever ? R"("constraints": {"required": true})" : "",
                 said("sha256", cells_hash(table, index))});
}

std::vector<std::string> metric_texts(const Config& config) {
  std::map<std::string_view, const MetricRow*> metrics;
  for (const Experiment& experiment : config.experiments) {
    for (const MetricRow* metric : experiment.metrics) metrics[metric->name] = metric;
  }
  std::vector<std::string> texts;
  for (const auto& [name, metric] : metrics) {
    texts.push_back(object({said("name", name), said("title", metric->title),
                            said("unit", metric->unit), said("description", metric->help)}));
  }
  return texts;
}

const char* sql_type(ColumnType type) {
  if (type == ColumnType::kText) return "TEXT";
  return type == ColumnType::kInteger ? "BIGINT" : "DOUBLE";
}

}  // namespace

void DataPackage::add(const std::string& name, const Table& table, std::string_view bytes) {
  const std::string stem = name.substr(0, name.find('.'));
  std::vector<std::string> fields;
  std::string columns;
  std::string updates;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const bool may_be_empty = column.empty == Empty::kAllowed;
    fields.push_back(field_text(table, i));
    columns += fmt::format("{}\n  \"{}\" {}{}", columns.empty() ? "" : ",", column.name,
                           sql_type(column.type), may_be_empty ? "" : " NOT NULL");
    if (!may_be_empty) continue;
    updates +=
        fmt::format("{0}\"{1}\" = nullif(\"{1}\", '')", updates.empty() ? "" : ", ", column.name);
  }
  resources_.push_back(fmt::format(
      R"({{"name": {}, "path": {}, "profile": "tabular-data-resource",
     "format": "csv", "mediatype": "text/csv", "encoding": "utf-8", "bytes": {},
     "hash": "sha256:{}",
     "schema": {{"missingValues": [""], "fields": {}}}}})",
      quote(stem), quote(name), bytes.size(), sha256_hex(bytes), list(fields, "     ")));
  tables_ += fmt::format("\nCREATE TABLE {} ({}\n);\n", stem, columns);
  if (!updates.empty()) {
    updates_ += fmt::format("-- SQLite: UPDATE {} SET {};\n", stem, updates);
  }
}

std::string DataPackage::json(const Config& config) const {
  std::string name = config.name;  // lower case, as the standard asks
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::string description =
      config.description.empty() ? "" : said("description", config.description) + ",\n  ";
  return fmt::format("{{\n  {},\n  {},\n  {},\n  {}{},\n  {}\n}}\n",
                     said("profile", "tabular-data-package"), said("name", name),
                     said("title", config.name), description,
                     member_text("metrics", list(metric_texts(config), "  ")),
                     member_text("resources", list(resources_, "  ")));
}

std::string DataPackage::sql() const {
  return "-- The tables of this run, for DuckDB and SQLite. DuckDB fills one with\n"
         "--   COPY summary FROM 'summary.csv' (HEADER);\n"
         "-- and sqlite3 with\n"
         "--   .import --csv --skip 1 summary.csv summary\n"
         "-- and then, as it takes an empty cell for an empty text, with the table's line at the "
         "end\n"
         "-- of this file without its \"-- SQLite: \".\n" +
         tables_ + "\n" + updates_;
}

}  // namespace attnscale
