// What a run says of its files to programs: datapackage.json, a Frictionless Tabular Data Package,
// and schema.sql with the same columns. Functions of the config and its CSV files alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.h"
#include "io/table.h"

namespace attnscale {

/// Takes the CSV files of a run one after the other.
class DataPackage {
 public:
  /// A file's name, such as "summary.csv", its table and its bytes.
  void add(const std::string& name, const Table& table, std::string_view bytes);

  /// datapackage.json: of each file its length, SHA-256 and columns, of each column its name, type,
  /// unit, title, description and the SHA-256 of its cells, each followed by a line end; and what
  /// the metrics of the config are called.
  std::string json(const Config& config) const;

  /// schema.sql: a table for each file, for DuckDB and SQLite, and how to fill it.
  std::string sql() const;

 private:
  std::vector<std::string> resources_;
  std::string tables_;
  std::string updates_;  // that SQLite needs
};

}  // namespace attnscale
