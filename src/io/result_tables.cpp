#include "io/result_tables.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "io/csv_reader.h"

namespace attnscale {
namespace {

/// Where a row keeps the value of a column; the type says what the column may hold.
using Place = std::variant<std::string*, std::int64_t*, double*, std::optional<std::int64_t>*,
                           std::optional<double>*>;

/// One column of a file of rows.
template <typename Row>
struct Column {
  std::string_view name;
  Place (*place)(Row&);
};

constexpr Column<ResultRow> kSummaryColumns[] = {
    {"run", [](ResultRow& r) -> Place { return &r.key.run; }},
    {"seed", [](ResultRow& r) -> Place { return &r.key.seed; }},
    {"experiment", [](ResultRow& r) -> Place { return &r.key.experiment; }},
    {"entries", [](ResultRow& r) -> Place { return &r.key.entries; }},
    {"entries_value", [](ResultRow& r) -> Place { return &r.key.entries_value; }},
    {"d", [](ResultRow& r) -> Place { return &r.key.d; }},
    {"keys", [](ResultRow& r) -> Place { return &r.key.keys; }},
    {"scaling", [](ResultRow& r) -> Place { return &r.key.scaling; }},
    {"scaling_value", [](ResultRow& r) -> Place { return &r.key.scaling_value; }},
    {"metric", [](ResultRow& r) -> Place { return &r.metric; }},
    {"queries", [](ResultRow& r) -> Place { return &r.queries; }},
    {"estimate", [](ResultRow& r) -> Place { return &r.estimate; }},
    {"std_error", [](ResultRow& r) -> Place { return &r.std_error; }},
    {"ci_low", [](ResultRow& r) -> Place { return &r.ci_low; }},
    {"ci_high", [](ResultRow& r) -> Place { return &r.ci_high; }},
    {"sd", [](ResultRow& r) -> Place { return &r.sd; }},
    {"min", [](ResultRow& r) -> Place { return &r.min; }},
    {"q05", [](ResultRow& r) -> Place { return &r.q05; }},
    {"median", [](ResultRow& r) -> Place { return &r.median; }},
    {"q95", [](ResultRow& r) -> Place { return &r.q95; }},
    {"max", [](ResultRow& r) -> Place { return &r.max; }},
    {"reference", [](ResultRow& r) -> Place { return &r.reference; }},
    {"z", [](ResultRow& r) -> Place { return &r.z; }},
    {"status", [](ResultRow& r) -> Place { return &r.status; }},
};

constexpr Column<CrossingRow> kCrossingColumns[] = {
    {"run", [](CrossingRow& r) -> Place { return &r.key.run; }},
    {"seed", [](CrossingRow& r) -> Place { return &r.key.seed; }},
    {"experiment", [](CrossingRow& r) -> Place { return &r.key.experiment; }},
    {"entries", [](CrossingRow& r) -> Place { return &r.key.entries; }},
    {"entries_value", [](CrossingRow& r) -> Place { return &r.key.entries_value; }},
    {"keys", [](CrossingRow& r) -> Place { return &r.key.keys; }},
    {"scaling", [](CrossingRow& r) -> Place { return &r.key.scaling; }},
    {"scaling_value", [](CrossingRow& r) -> Place { return &r.key.scaling_value; }},
    {"metric", [](CrossingRow& r) -> Place { return &r.metric; }},
    {"statistic", [](CrossingRow& r) -> Place { return &r.statistic; }},
    {"level", [](CrossingRow& r) -> Place { return &r.level; }},
    {"d", [](CrossingRow& r) -> Place { return &r.d; }},
    {"d_exact", [](CrossingRow& r) -> Place { return &r.d_exact; }},
    {"status", [](CrossingRow& r) -> Place { return &r.status; }},
};

constexpr Column<ContrastRow> kContrastColumns[] = {
    {"run", [](ContrastRow& r) -> Place { return &r.key.run; }},
    {"seed", [](ContrastRow& r) -> Place { return &r.key.seed; }},
    {"experiment", [](ContrastRow& r) -> Place { return &r.key.experiment; }},
    {"entries", [](ContrastRow& r) -> Place { return &r.key.entries; }},
    {"entries_value", [](ContrastRow& r) -> Place { return &r.key.entries_value; }},
    {"d", [](ContrastRow& r) -> Place { return &r.key.d; }},
    {"keys", [](ContrastRow& r) -> Place { return &r.key.keys; }},
    {"metric", [](ContrastRow& r) -> Place { return &r.metric; }},
    {"scaling", [](ContrastRow& r) -> Place { return &r.key.scaling; }},
    {"scaling_value", [](ContrastRow& r) -> Place { return &r.key.scaling_value; }},
    {"baseline", [](ContrastRow& r) -> Place { return &r.baseline; }},
    {"queries", [](ContrastRow& r) -> Place { return &r.queries; }},
    {"estimate", [](ContrastRow& r) -> Place { return &r.estimate; }},
    {"std_error", [](ContrastRow& r) -> Place { return &r.std_error; }},
    {"ci_low", [](ContrastRow& r) -> Place { return &r.ci_low; }},
    {"ci_high", [](ContrastRow& r) -> Place { return &r.ci_high; }},
};

constexpr Column<HistogramRow> kHistogramColumns[] = {
    {"run", [](HistogramRow& r) -> Place { return &r.key.run; }},
    {"seed", [](HistogramRow& r) -> Place { return &r.key.seed; }},
    {"experiment", [](HistogramRow& r) -> Place { return &r.key.experiment; }},
    {"entries", [](HistogramRow& r) -> Place { return &r.key.entries; }},
    {"entries_value", [](HistogramRow& r) -> Place { return &r.key.entries_value; }},
    {"d", [](HistogramRow& r) -> Place { return &r.key.d; }},
    {"keys", [](HistogramRow& r) -> Place { return &r.key.keys; }},
    {"scaling", [](HistogramRow& r) -> Place { return &r.key.scaling; }},
    {"scaling_value", [](HistogramRow& r) -> Place { return &r.key.scaling_value; }},
    {"metric", [](HistogramRow& r) -> Place { return &r.metric; }},
    {"bin_low", [](HistogramRow& r) -> Place { return &r.bin_low; }},
    {"bin_high", [](HistogramRow& r) -> Place { return &r.bin_high; }},
    {"count", [](HistogramRow& r) -> Place { return &r.count; }},
    {"density", [](HistogramRow& r) -> Place { return &r.density; }},
};

constexpr Column<WeightRow> kWeightColumns[] = {
    {"experiment", [](WeightRow& r) -> Place { return &r.experiment; }},
    {"head", [](WeightRow& r) -> Place { return &r.head; }},
    {"query", [](WeightRow& r) -> Place { return &r.query; }},
    {"scaling", [](WeightRow& r) -> Place { return &r.scaling; }},
    {"key", [](WeightRow& r) -> Place { return &r.key; }},
    {"score", [](WeightRow& r) -> Place { return &r.score; }},
    {"logit", [](WeightRow& r) -> Place { return &r.logit; }},
    {"weight", [](WeightRow& r) -> Place { return &r.weight; }},
    {"slope", [](WeightRow& r) -> Place { return &r.slope; }},
};

constexpr Column<OutputRow> kOutputColumns[] = {
    {"experiment", [](OutputRow& r) -> Place { return &r.experiment; }},
    {"head", [](OutputRow& r) -> Place { return &r.head; }},
    {"query", [](OutputRow& r) -> Place { return &r.query; }},
    {"scaling", [](OutputRow& r) -> Place { return &r.scaling; }},
    {"component", [](OutputRow& r) -> Place { return &r.component; }},
    {"output", [](OutputRow& r) -> Place { return &r.output; }},
};

constexpr Column<BaselineRow> kBaselineColumns[] = {
    {"run", [](BaselineRow& r) -> Place { return &r.key.run; }},
    {"seed", [](BaselineRow& r) -> Place { return &r.key.seed; }},
    {"experiment", [](BaselineRow& r) -> Place { return &r.key.experiment; }},
    {"d", [](BaselineRow& r) -> Place { return &r.key.d; }},
    {"keys", [](BaselineRow& r) -> Place { return &r.key.keys; }},
    {"scaling", [](BaselineRow& r) -> Place { return &r.key.scaling; }},
    {"scaling_value", [](BaselineRow& r) -> Place { return &r.key.scaling_value; }},
    {"metric", [](BaselineRow& r) -> Place { return &r.metric; }},
    {"queries", [](BaselineRow& r) -> Place { return &r.queries; }},
    {"estimate", [](BaselineRow& r) -> Place { return &r.estimate; }},
    {"baseline_queries", [](BaselineRow& r) -> Place { return &r.baseline_queries; }},
    {"baseline", [](BaselineRow& r) -> Place { return &r.baseline; }},
    {"baseline_std_error", [](BaselineRow& r) -> Place { return &r.baseline_std_error; }},
    {"ratio", [](BaselineRow& r) -> Place { return &r.ratio; }},
};

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

template <typename Row, std::size_t kCount>
Table table_of(std::span<const Row> rows, const Column<Row> (&columns)[kCount]) {
  Table table;
  for (const Column<Row>& column : columns) table.columns.emplace_back(column.name);
  for (Row row : rows) {
    std::vector<Value>& values = table.rows.emplace_back();
    for (const Column<Row>& column : columns) {
      values.push_back(
          std::visit([](const auto* place) { return value_of(*place); }, column.place(row)));
    }
  }
  return table;
}

/// A field of a file that is to become a value, and where to say it stands.
struct Field {
  const std::string& text;
  std::string_view column;
  const std::string& file;
  std::size_t line;

  [[noreturn]] void refuse(const std::string& wanted) const {
    throw std::runtime_error(file + ":" + std::to_string(line) + ": column " + std::string(column) +
                             " has " + (text.empty() ? "nothing" : "\"" + text + "\"") + " where " +
                             wanted + " belongs");
  }
};

void read_value(const Field& field, std::string& value) {
  value = field.text;
}

template <typename Number>
requires std::is_arithmetic_v<Number>
void read_value(const Field& field, Number& value) {
  const char* const end = field.text.data() + field.text.size();
  const std::from_chars_result result = std::from_chars(field.text.data(), end, value);
  bool good = result.ec == std::errc() && result.ptr == end;
  if constexpr (std::is_floating_point_v<Number>) good = good && std::isfinite(value);
  if (!good) field.refuse(std::is_floating_point_v<Number> ? "a number" : "a whole number");
}

template <typename Number>
void read_value(const Field& field, std::optional<Number>& value) {
  if (!field.text.empty()) read_value(field, value.emplace());
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

template <typename Row, std::size_t kCount>
std::vector<Row> read_rows(const std::filesystem::path& path,
                           const Column<Row> (&columns)[kCount]) {
  const std::string name = path.string();
  const CsvFile file = read_csv(path);
  std::vector<std::string> expected;
  for (const Column<Row>& column : columns) expected.emplace_back(column.name);
  if (file.columns != expected) {
    throw std::runtime_error(name + ":1: the columns are " + joined(file.columns) +
                             " and should be " + joined(expected));
  }
  std::vector<Row> rows;
  for (const CsvRecord& record : file.records) {
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < kCount; ++i) {
      const Field field{record.fields[i], columns[i].name, name, record.line};
      std::visit([&](auto* place) { read_value(field, *place); }, columns[i].place(row));
    }
  }
  return rows;
}

constexpr std::size_t kKeyColumns = 9;  // run ... scaling_value

/// The columns one metric has in the wide table.
struct MetricColumns {
  std::string metric;
  bool per_query = false;
  std::size_t first = 0;
};

/// Metrics in the order of their first row, with the columns they get after `first`.
std::vector<MetricColumns> metric_columns(std::span<const ResultRow> rows, std::size_t first) {
  std::vector<MetricColumns> metrics;
  for (const ResultRow& row : rows) {
    auto found = std::ranges::find(metrics, row.metric, &MetricColumns::metric);
    if (found == metrics.end()) found = metrics.insert(found, {row.metric, false, 0});
    found->per_query = found->per_query || row.median.has_value();
  }
  for (MetricColumns& metric : metrics) {
    metric.first = first;
    first += metric.per_query ? 4 : 3;
  }
  return metrics;
}

}  // namespace

Table summary_table(std::span<const ResultRow> rows) {
  return table_of(rows, kSummaryColumns);
}
Table crossings_table(std::span<const CrossingRow> rows) {
  return table_of(rows, kCrossingColumns);
}
Table contrasts_table(std::span<const ContrastRow> rows) {
  return table_of(rows, kContrastColumns);
}
Table weights_table(std::span<const WeightRow> rows) {
  return table_of(rows, kWeightColumns);
}
Table outputs_table(std::span<const OutputRow> rows) {
  return table_of(rows, kOutputColumns);
}
Table baselines_table(std::span<const BaselineRow> rows) {
  return table_of(rows, kBaselineColumns);
}

Table histogram_table(std::span<const HistogramRow> rows) {
  return table_of(rows, kHistogramColumns);
}

Table samples_table(std::span<const SampleRow> rows) {
  std::vector<ResultRow> keys;
  std::vector<std::string> metrics;
  for (const SampleRow& row : rows) {
    keys.emplace_back().key = row.key;
    for (const auto& [metric, value] : row.values) {
      if (std::ranges::find(metrics, metric) == metrics.end()) metrics.push_back(metric);
    }
  }
  Table table = summary_table(keys);
  table.columns.resize(kKeyColumns);
  table.columns.emplace_back("query");
  table.columns.insert(table.columns.end(), metrics.begin(), metrics.end());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<Value>& values = table.rows[i];
    values.resize(kKeyColumns);
    values.emplace_back(rows[i].query);
    values.resize(table.columns.size());
    for (const auto& [metric, value] : rows[i].values) {
      const auto place = std::ranges::find(metrics, metric) - metrics.begin();
      values[kKeyColumns + 1 + static_cast<std::size_t>(place)] = value_of(value);
    }
  }
  return table;
}

Table wide_table(std::span<const ResultRow> rows) {
  const Table summary = summary_table(rows);
  Table wide;
  wide.columns.assign(summary.columns.begin(), summary.columns.begin() + kKeyColumns);
  wide.columns.emplace_back("queries");
  const std::vector<MetricColumns> metrics = metric_columns(rows, wide.columns.size());
  for (const MetricColumns& metric : metrics) {
    for (const char* suffix : {"", "_se", "_reference"}) {
      wide.columns.push_back(metric.metric + suffix);
    }
    if (metric.per_query) wide.columns.push_back(metric.metric + "_median");
  }

  std::map<std::vector<Value>, std::size_t> line_of;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ResultRow& row = rows[i];
    std::vector<Value> key(summary.rows[i].begin(), summary.rows[i].begin() + kKeyColumns);
    const std::size_t line = line_of.try_emplace(key, wide.rows.size()).first->second;
    if (line == wide.rows.size()) {
      key.emplace_back(row.queries);
      key.resize(wide.columns.size());
      wide.rows.push_back(std::move(key));
    }
    const MetricColumns& metric = *std::ranges::find(metrics, row.metric, &MetricColumns::metric);
    std::vector<Value>& values = wide.rows[line];
    values[metric.first] = value_of(row.estimate);
    values[metric.first + 1] = value_of(row.std_error);
    values[metric.first + 2] = value_of(row.reference);
    if (metric.per_query) values[metric.first + 3] = value_of(row.median);
  }
  return wide;
}

std::vector<ResultRow> read_summary(const std::filesystem::path& path) {
  return read_rows(path, kSummaryColumns);
}
std::vector<CrossingRow> read_crossings(const std::filesystem::path& path) {
  return read_rows(path, kCrossingColumns);
}
std::vector<WeightRow> read_weights(const std::filesystem::path& path) {
  return read_rows(path, kWeightColumns);
}
std::vector<OutputRow> read_outputs(const std::filesystem::path& path) {
  return read_rows(path, kOutputColumns);
}
std::vector<BaselineRow> read_baselines(const std::filesystem::path& path) {
  return read_rows(path, kBaselineColumns);
}

Results read_results(const std::filesystem::path& folder) {
  const auto exists = [&](const char* name) { return std::filesystem::exists(folder / name); };
  Results run;
  run.rows = read_summary(folder / "summary.csv");
  if (exists("crossings.csv")) run.crossings = read_crossings(folder / "crossings.csv");
  if (exists("weights.csv")) run.weights = read_weights(folder / "weights.csv");
  if (exists("outputs.csv")) run.outputs = read_outputs(folder / "outputs.csv");
  if (exists("baselines.csv")) run.baselines = read_baselines(folder / "baselines.csv");
  return run;
}

}  // namespace attnscale
