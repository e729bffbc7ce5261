#include "io/result_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "experiment/metric.h"
#include "io/csv_reader.h"
#include "io/json_text.h"
#include "io/result_columns.h"
#include "numerics/portable_math.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

constexpr std::string_view kAllFinite = "ok";

template <typename T>
Value value_of(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(name_of(value));
  } else {
    return value;
  }
}

template <typename T>
Value value_of(const std::optional<T>& value) {
  return value ? Value(*value) : Value();
}

Value value_of(const std::string& value) {
  return value.empty() ? Value() : Value(value);
}

Value value_of(MayBeEmpty<const std::string> value) {
  return value_of(value.text);
}

template <Empty kMay>
Value value_of(const Derived<kMay>& value) {
  return value_of(value.text);
}

Value value_of(Computed<const double> value) {
  return value.number;
}

template <typename T>
constexpr Empty kEmpty = Empty::kNever;
template <typename T>
constexpr Empty kEmpty<std::optional<T>> = Empty::kAllowed;
template <typename T>
constexpr Empty kEmpty<MayBeEmpty<T>> = Empty::kAllowed;
template <typename T>
constexpr Empty kEmpty<Computed<T>> = Empty::kAllowed;
template <Empty kMay>
constexpr Empty kEmpty<Derived<kMay>> = kMay;

template <typename T>
constexpr ColumnType kType = std::is_integral_v<T>         ? ColumnType::kInteger
                             : std::is_floating_point_v<T> ? ColumnType::kNumber
                                                           : ColumnType::kText;
template <typename T>
constexpr ColumnType kType<std::optional<T>> = kType<T>;
template <typename T>
constexpr ColumnType kType<Computed<T>> = ColumnType::kNumber;

// The column of a metric, METRIC, or of what is said of it, such as METRIC_se.
Column metric_column(const std::string& metric, std::string_view suffix = "",
                     std::string_view said = "") {
  Column column(fmt::format("{}{}", metric, suffix));
  const MetricRow* row = find_metric(metric);
  if (row == nullptr) return column;
  column.title = said.empty() ? row->title : fmt::format("{}, {}", row->title, said);
  column.unit = row->unit;
  column.description = fmt::format("{}{}{}.", said, said.empty() ? "" : ": ", row->help);
  return column;
}

Column column_of(const ColumnText& text, Empty empty, ColumnType type) {
  Column column = metric_column(std::string(text.name));
  column.empty = empty;
  column.type = type;
  if (text.title.empty()) return column;
  column.title = text.title;
  column.unit = text.unit;
  column.description = text.description;
  return column;
}

// What visits the columns of a row. Inlined at every column they would take seconds to compile.

struct ColumnWriter {
  std::vector<Column>& columns;

  template <typename T>
  [[gnu::noinline]] void operator()(const ColumnText& text, const T& /*value*/) const {
    columns.push_back(column_of(text, kEmpty<T>, kType<T>));
  }
};

std::string_view name_of_nonfinite(double number) {
  if (std::isnan(number)) return "nan";
  return number > 0 ? "inf" : "-inf";
}

struct LineWriter {
  std::vector<Value>& line;
  std::string status = {};

  [[gnu::noinline]] void operator()(const ColumnText& /*column*/, const auto& value) const {
    line.push_back(value_of(value));
  }

  [[gnu::noinline]] void operator()(const ColumnText& column, Computed<const double> value) {
    line.push_back(value_of(value));
    if (std::isfinite(value.number)) return;
    status += fmt::format("{}{}={}", status.empty() ? "" : " ", column.name,
                          name_of_nonfinite(value.number));
  }

  void operator()(const ColumnText& /*column*/, NumberStatus /*status*/) const {
    line.emplace_back(status.empty() ? std::string(kAllFinite) : status);
  }
};

template <typename Row>
std::vector<Column> columns_of() {
  std::vector<Column> columns;
  const Row row;
  visit_columns(row, ColumnWriter{columns});
  return columns;
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
  if (field.text.empty()) field.refuse("a text");
  value = field.text;
}

void read_value(const Field& field, MayBeEmpty<std::string> value) {
  value.text = field.text;
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

template <typename Status>
requires std::is_enum_v<Status>
void read_value(const Field& field, Status& status) {
  const auto& rows = status_rows(status);
  const auto row = std::ranges::find(rows, field.text, &StatusRow::name);
  if (row == rows.end()) field.refuse("a status");
  status = static_cast<Status>(row - rows.begin());
}

template <typename Number>
void read_value(const Field& field, std::optional<Number>& value) {
  if (!field.text.empty()) read_value(field, value.emplace());
}

struct LineReader {
  const CsvRecord& line;
  const std::string& file;
  std::size_t next = 0;
  std::vector<std::pair<std::string_view, double*>> unknown = {};  // numbers of empty cells

  Field take_field(const ColumnText& column) {
    return {line.fields[next++], column.name, file, line.line};
  }

  template <typename T>
  [[gnu::noinline]] void operator()(const ColumnText& column, T&& value) {
    read_value(take_field(column), value);
  }

  // The values that it follows from were read before.
  template <Empty kMay>
  [[gnu::noinline]] void operator()(const ColumnText& column, Derived<kMay> value) {
    const Field field = take_field(column);
    if (field.text != value.text) field.refuse(("\"" + value.text + "\"").c_str());
  }

  [[gnu::noinline]] void operator()(const ColumnText& column, Computed<double> value) {
    const Field field = take_field(column);
    if (!field.text.empty()) return read_value(field, value.number);
    unknown.emplace_back(column.name, &value.number);
  }

  // Says what the numbers of the line's empty cells were.
  void operator()(const ColumnText& column, NumberStatus /*status*/) {
    const Field field = take_field(column);
    std::string_view rest = field.text;
    for (const auto& [name, number] : unknown) {
      rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(word.size());
      for (const double found : {kInfinity, -kInfinity, kNan}) {
        if (word == fmt::format("{}={}", name, name_of_nonfinite(found))) *number = found;
      }
      if (std::isfinite(*number)) field.refuse("what the empty cells were, such as logit=inf");
    }
    if (unknown.empty() ? rest != kAllFinite : !rest.empty()) field.refuse("ok, or empty cells");
  }
};

}  // namespace

template <typename Row>
Table table_of(std::span<const Row> rows) {
  Table table{columns_of<Row>(), {}};
  for (const Row& row : rows) visit_columns(row, LineWriter{table.rows.emplace_back()});
  return table;
}

template Table table_of(std::span<const ResultRow>);
template Table table_of(std::span<const HistogramRow>);
template Table table_of(std::span<const CrossingRow>);
template Table table_of(std::span<const ContrastRow>);
template Table table_of(std::span<const WeightRow>);
template Table table_of(std::span<const OutputRow>);
template Table table_of(std::span<const HeadRow>);
template Table table_of(std::span<const QueryRow>);
template Table table_of(std::span<const BaselineRow>);
template Table table_of(std::span<const CoverageRow>);
template Table table_of(std::span<const DifferenceRow>);

Table wide_table(std::span<const ResultRow> rows) {
  Table wide{columns_of<ResultKey>(), {}};
  wide.columns.push_back(column_of(kQueries, Empty::kNever, ColumnType::kInteger));
  const std::size_t left_out = wide.columns.size();
  wide.columns.push_back(column_of(kLeftOut, Empty::kNever, ColumnType::kInteger));
  std::map<std::string, bool> has_median;
  for (const ResultRow& row : rows) has_median[row.metric] |= row.median.has_value();
  std::map<std::string, std::size_t> first_of;  // of the columns of each metric
  for (const ResultRow& row : rows) {
    if (!first_of.try_emplace(row.metric, wide.columns.size()).second) continue;
    wide.columns.push_back(metric_column(row.metric));
    wide.columns.push_back(metric_column(row.metric, "_se", "standard error"));
    wide.columns.push_back(metric_column(row.metric, "_reference", "exact"));
    if (!has_median[row.metric]) continue;
    wide.columns.push_back(metric_column(row.metric, "_median", "median"));
  }

  std::map<ResultKey, std::size_t> line_of;
  for (const ResultRow& row : rows) {
    const std::size_t index = line_of.try_emplace(row.key, wide.rows.size()).first->second;
    if (index == wide.rows.size()) {
      std::vector<Value>& line = wide.rows.emplace_back();
      visit_columns(row.key, LineWriter{line});
      line.resize(wide.columns.size());
      line[left_out] = std::int64_t{0};
    }
    // Those left out of one metric may be counted by another.
    Value& most = wide.rows[index][left_out];
    most = std::max(std::get<std::int64_t>(most), row.left_out);
    wide.rows[index][left_out - 1] = row.queries + row.left_out - std::get<std::int64_t>(most);
    Value* const first = &wide.rows[index][first_of[row.metric]];
    first[0] = value_of(row.estimate);
    first[1] = value_of(row.std_error);
    first[2] = value_of(row.reference);
    if (has_median[row.metric]) first[3] = value_of(row.median);
  }
  return wide;
}

Table samples_table(std::span<const SampleRow> rows) {
  Table table = table_of(rows);
  const auto first = static_cast<std::ptrdiff_t>(table.columns.size());
  const auto place_of = [&](const std::string& metric) {
    return std::ranges::find(table.columns.begin() + first, table.columns.end(), metric,
                             &Column::name);
  };
  for (const SampleRow& row : rows) {
    for (const auto& [metric, value] : row.values) {
      if (place_of(metric) == table.columns.end()) table.columns.push_back(metric_column(metric));
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

template <typename Row>
std::vector<Row> read_rows(const std::filesystem::path& path) {
  const std::string name = path.string();
  const CsvFile file = read_csv(path);
  std::vector<std::string> columns;
  for (const Column& column : columns_of<Row>()) columns.push_back(column.name);
  const std::size_t first_metric = columns.size();
  if constexpr (std::is_same_v<Row, SampleRow>) {
    for (std::size_t i = first_metric; i < file.columns.size(); ++i) {
      columns.push_back(file.columns[i]);
    }
  }
  if (file.columns != columns) {
    throw std::runtime_error(fmt::format("{}:1: the columns are {} and should be {}", name,
                                         join(file.columns, ","), join(columns, ",")));
  }
  std::vector<Row> rows;
  for (const CsvRecord& line : file.records) {
    Row& row = rows.emplace_back();
    visit_columns(row, LineReader{line, name});
    if constexpr (std::is_same_v<Row, SampleRow>) {
      for (std::size_t i = first_metric; i < columns.size(); ++i) {
        row.values.emplace_back(columns[i], std::nullopt);
        read_value({line.fields[i], columns[i], name, line.line}, row.values.back().second);
      }
    }
  }
  return rows;
}

template std::vector<ResultRow> read_rows(const std::filesystem::path&);
template std::vector<CrossingRow> read_rows(const std::filesystem::path&);
template std::vector<ContrastRow> read_rows(const std::filesystem::path&);
template std::vector<SampleRow> read_rows(const std::filesystem::path&);
template std::vector<HistogramRow> read_rows(const std::filesystem::path&);
template std::vector<WeightRow> read_rows(const std::filesystem::path&);
template std::vector<OutputRow> read_rows(const std::filesystem::path&);
template std::vector<HeadRow> read_rows(const std::filesystem::path&);
template std::vector<QueryRow> read_rows(const std::filesystem::path&);
template std::vector<BaselineRow> read_rows(const std::filesystem::path&);

}  // namespace attnscale
