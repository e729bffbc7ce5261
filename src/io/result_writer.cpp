#include "io/result_writer.h"

#include "io/result_tables.h"

namespace attnscale {
namespace {

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

}  // namespace attnscale
