#include "io/result_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "io/csv_reader.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

// The columns of each file, in order: what they are called and where a row keeps their values. A
// row is const when it is written and not when it is read.

template <typename T, typename Row>
concept Is = std::is_same_v<std::remove_const_t<T>, Row>;

void visit_experiment(Is<ResultKey> auto& key, auto&& column) {
  column("run", key.run);
  column("seed", key.seed);
  column("experiment", key.experiment);
}

void visit_entries(Is<ResultKey> auto& key, auto&& column) {
  column("entries", key.entries);
  column("entries_value", key.entries_value);
}

void visit_sizes(Is<ResultKey> auto& key, auto&& column) {
  column("d", key.d);
  column("keys", key.keys);
}

void visit_scaling(Is<ResultKey> auto& key, auto&& column) {
  column("scaling", key.scaling);
  column("scaling_value", key.scaling_value);
}

void visit(Is<ResultKey> auto& key, auto&& column) {
  visit_experiment(key, column);
  visit_entries(key, column);
  visit_sizes(key, column);
  visit_scaling(key, column);
}

void visit(Is<ResultRow> auto& row, auto&& column) {
  visit(row.key, column);
  column("metric", row.metric);
  column("queries", row.queries);
  column("estimate", row.estimate);
  column("std_error", row.std_error);
  column("ci_low", row.ci_low);
  column("ci_high", row.ci_high);
  column("sd", row.sd);
  column("min", row.min);
  column("q05", row.q05);
  column("median", row.median);
  column("q95", row.q95);
  column("max", row.max);
  column("reference", row.reference);
  column("z", row.z);
  column("status", row.status);
}

void visit(Is<CrossingRow> auto& row, auto&& column) {
  visit_experiment(row.key, column);
  visit_entries(row.key, column);
  column("keys", row.key.keys);
  visit_scaling(row.key, column);
  column("metric", row.metric);
  column("statistic", row.statistic);
  column("level", row.level);
  column("d", row.d);
  column("d_exact", row.d_exact);
  column("status", row.status);
}

void visit(Is<ContrastRow> auto& row, auto&& column) {
  visit_experiment(row.key, column);
  visit_entries(row.key, column);
  visit_sizes(row.key, column);
  column("metric", row.metric);
  visit_scaling(row.key, column);
  column("baseline", row.baseline);
  column("queries", row.queries);
  column("estimate", row.estimate);
  column("std_error", row.std_error);
  column("ci_low", row.ci_low);
  column("ci_high", row.ci_high);
}

void visit(Is<HistogramRow> auto& row, auto&& column) {
  visit(row.key, column);
  column("metric", row.metric);
  column("bin_low", row.bin_low);
  column("bin_high", row.bin_high);
  column("count", row.count);
  column("density", row.density);
}

void visit(Is<SampleRow> auto& row, auto&& column) {
  visit(row.key, column);
  column("query", row.query);
}

void visit(Is<WeightRow> auto& row, auto&& column) {
  column("experiment", row.experiment);
  column("head", row.head);
  column("query", row.query);
  column("scaling", row.scaling);
  column("key", row.key);
  column("score", row.score);
  column("logit", row.logit);
  column("weight", row.weight);
  column("slope", row.slope);
}

void visit(Is<OutputRow> auto& row, auto&& column) {
  column("experiment", row.experiment);
  column("head", row.head);
  column("query", row.query);
  column("scaling", row.scaling);
  column("component", row.component);
  column("output", row.output);
}

void visit(Is<BaselineRow> auto& row, auto&& column) {
  visit_experiment(row.key, column);
  visit_sizes(row.key, column);
  visit_scaling(row.key, column);
  column("metric", row.metric);
  column("queries", row.queries);
  column("estimate", row.estimate);
  column("baseline_queries", row.baseline_queries);
  column("baseline", row.baseline);
  column("baseline_std_error", row.baseline_std_error);
  column("ratio", row.ratio);
}

template <typename T>
Value value_of(const T& value) {
  return value;
}

// A text that does not exist, such as the law of given numbers, is no value, as in an empty cell.
Value value_of(const std::string& value) {
  return value.empty() ? Value() : Value(value);
}

template <typename T>
Value value_of(const std::optional<T>& value) {
  return value ? Value(*value) : Value();
}

// What visits the columns of a row. Inlined at every column they would take seconds to compile.

struct NameWriter {
  std::vector<std::string>& names;

  [[gnu::noinline]] void operator()(const char* column, const auto& /*value*/) const {
    names.emplace_back(column);
  }
};

struct LineWriter {
  std::vector<Value>& line;

  [[gnu::noinline]] void operator()(const char* /*column*/, const auto& value) const {
    line.push_back(value_of(value));
  }
};

template <typename Row>
std::vector<std::string> columns_of() {
  std::vector<std::string> names;
  const Row row;
  visit(row, NameWriter{names});
  return names;
}

// A field of a file that is to become a value, and where it is.
struct Field {
  const std::string& text;
  std::string_view column;
  const std::string& file;
  std::size_t line;

  [[noreturn]] void refuse(const char* wanted) const {
    const std::string found = text.empty() ? "nothing" : "\"" + text + "\"";
    throw std::runtime_error(
        fmt::format("{}:{}: column {}: found {}; expected {}", file, line, column, found, wanted));
  }
};

void read_value(const Field& field, std::string& value) {
  value = field.text;
}

template <typename Number>
requires std::is_arithmetic_v<Number>
void read_value(const Field& field, Number& value) {
  constexpr bool kIsReal = std::is_floating_point_v<Number>;
  const std::optional<Number> number = parse_number<Number>(field.text);
  if (!number || (kIsReal && !std::isfinite(static_cast<double>(*number)))) {
    field.refuse(kIsReal ? "a number" : "a whole number");
  }
  value = *number;
}

template <typename Number>
void read_value(const Field& field, std::optional<Number>& value) {
  if (!field.text.empty()) read_value(field, value.emplace());
}

struct LineReader {
  const CsvRecord& line;
  const std::string& file;
  std::size_t next = 0;

  [[gnu::noinline]] void operator()(const char* column, auto& value) {
    read_value({line.fields[next++], column, file, line.line}, value);
  }
};

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

template <typename Row>
void read_rows(const std::filesystem::path& path, std::vector<Row>& rows) {
  const std::string name = path.string();
  const CsvFile file = read_csv(path);
  const std::vector<std::string> columns = columns_of<Row>();
  if (file.columns != columns) {
    throw std::runtime_error(fmt::format("{}:1: the columns are {} and should be {}", name,
                                         joined(file.columns), joined(columns)));
  }
  for (const CsvRecord& line : file.records) visit(rows.emplace_back(), LineReader{line, name});
}

}  // namespace

template <typename Row>
Table table_of(std::span<const Row> rows) {
  Table table{columns_of<Row>(), {}};
  for (const Row& row : rows) visit(row, LineWriter{table.rows.emplace_back()});
  return table;
}

template Table table_of(std::span<const ResultRow>);
template Table table_of(std::span<const HistogramRow>);
template Table table_of(std::span<const CrossingRow>);
template Table table_of(std::span<const ContrastRow>);
template Table table_of(std::span<const WeightRow>);
template Table table_of(std::span<const OutputRow>);
template Table table_of(std::span<const BaselineRow>);

Table wide_table(std::span<const ResultRow> rows) {
  Table wide{columns_of<ResultKey>(), {}};
  wide.columns.emplace_back("queries");
  std::map<std::string, bool> has_median;
  for (const ResultRow& row : rows) has_median[row.metric] |= row.median.has_value();
  std::map<std::string, std::size_t> first_of;  // of the columns of each metric
  for (const ResultRow& row : rows) {
    if (!first_of.try_emplace(row.metric, wide.columns.size()).second) continue;
    for (const char* suffix : {"", "_se", "_reference"}) {
      wide.columns.push_back(row.metric + suffix);
    }
    if (has_median[row.metric]) wide.columns.push_back(row.metric + "_median");
  }

  std::map<ResultKey, std::size_t> line_of;
  for (const ResultRow& row : rows) {
    const std::size_t index = line_of.try_emplace(row.key, wide.rows.size()).first->second;
    if (index == wide.rows.size()) {
      std::vector<Value>& line = wide.rows.emplace_back();
      visit(row.key, LineWriter{line});
      line.emplace_back(row.queries);
      line.resize(wide.columns.size());
    }
    Value* const first = &wide.rows[index][first_of[row.metric]];
    first[0] = value_of(row.estimate);
    first[1] = value_of(row.std_error);
    first[2] = value_of(row.reference);
    if (has_median[row.metric]) first[3] = value_of(row.median);
  }
  return wide;
}

namespace {

// samples.csv: one line per row; the metrics that were measured, in the order they first appear.
Table samples_table(std::span<const SampleRow> rows) {
  Table table = table_of(rows);
  const auto first = static_cast<std::ptrdiff_t>(table.columns.size());
  const auto place_of = [&](const std::string& metric) {
    return std::find(table.columns.begin() + first, table.columns.end(), metric);
  };
  for (const SampleRow& row : rows) {
    for (const auto& [metric, value] : row.values) {
      if (place_of(metric) == table.columns.end()) table.columns.push_back(metric);
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<Value>& line = table.rows[i];
    line.resize(table.columns.size());
    for (const auto& [metric, value] : rows[i].values) {
      line[static_cast<std::size_t>(place_of(metric) - table.columns.begin())] = value_of(value);
    }
  }
  return table;
}

enum class Presence { kAlways, kWhereFilled };

template <auto kRows, auto kTable>
Table table(const Results& results) {
  return kTable(results.*kRows);
}

struct ResultFile {
  const char* name;
  Presence presence;
  Table (*table)(const Results&);
  std::string (*format)(const Table&);
};

using enum Presence;
constexpr ResultFile kFiles[] = {
    {"summary.csv", kAlways, table<&Results::rows, table_of<ResultRow>>, to_csv},
    {"wide.csv", kAlways, table<&Results::rows, wide_table>, to_csv},
    {"summary.json", kAlways, table<&Results::rows, table_of<ResultRow>>, to_json},
    {"crossings.csv", kAlways, table<&Results::crossings, table_of<CrossingRow>>, to_csv},
    {"contrasts.csv", kWhereFilled, table<&Results::contrasts, table_of<ContrastRow>>, to_csv},
    {"histogram.csv", kWhereFilled, table<&Results::histogram, table_of<HistogramRow>>, to_csv},
    {"samples.csv", kWhereFilled, table<&Results::samples, samples_table>, to_csv},
    {"weights.csv", kWhereFilled, table<&Results::weights, table_of<WeightRow>>, to_csv},
    {"outputs.csv", kWhereFilled, table<&Results::outputs, table_of<OutputRow>>, to_csv},
    {"baselines.csv", kWhereFilled, table<&Results::baselines, table_of<BaselineRow>>, to_csv},
};

}  // namespace

std::vector<std::string> result_file_names() {
  std::vector<std::string> names;
  for (const ResultFile& file : kFiles) names.emplace_back(file.name);
  return names;
}

std::vector<NamedBytes> result_files(const Results& results) {
  std::vector<NamedBytes> files;
  for (const ResultFile& file : kFiles) {
    const Table table = file.table(results);
    if (table.rows.empty() && file.presence == Presence::kWhereFilled) continue;
    files.push_back({file.name, file.format(table)});
  }
  return files;
}

std::vector<ResultRow> read_summary(const std::filesystem::path& path) {
  std::vector<ResultRow> rows;
  read_rows(path, rows);
  return rows;
}

Results read_results(const std::filesystem::path& folder) {
  const auto read_if_there = [&](const char* name, auto& rows) {
    if (std::filesystem::exists(folder / name)) read_rows(folder / name, rows);
  };
  Results run;
  run.rows = read_summary(folder / "summary.csv");
  read_if_there("crossings.csv", run.crossings);
  read_if_there("weights.csv", run.weights);
  read_if_there("outputs.csv", run.outputs);
  read_if_there("baselines.csv", run.baselines);
  return run;
}

}  // namespace attnscale
