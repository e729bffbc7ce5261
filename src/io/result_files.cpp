#include "io/result_files.h"

#include <algorithm>

#include "io/data_package.h"
#include "io/result_tables.h"

namespace attnscale {
namespace {

using Asks = bool (*)(const Config&);

bool always(const Config& /*config*/) {
  return true;
}

template <auto kAsks>
bool where_drawn(const Config& config) {
  return std::ranges::any_of(config.experiments,
                             [](const Experiment& asked) { return !asked.given && kAsks(asked); });
}

template <auto kAsks>
bool where_given(const Config& config) {
  return std::ranges::any_of(config.experiments, [](const Experiment& asked) {
    return asked.given && kAsks(asked, *asked.given);
  });
}

constexpr auto kSeveralScalings = [](const Experiment& asked) { return asked.scalings.size() > 1; };
constexpr auto kHistogram = [](const Experiment& asked) { return !asked.histogram.empty(); };
constexpr auto kSamples = [](const Experiment& asked) { return asked.samples > 0; };
constexpr auto kWeights = [](const Experiment&, const Given& given) { return given.weights; };
constexpr auto kOutputs = [](const Experiment&, const Given& given) {
  return given.weights && !given.values.empty();
};
template <GivenPart part>
constexpr auto kBy = [](const Experiment& asked, const Given&) { return is_split_by(asked, part); };
constexpr auto kBaseline = [](const Experiment& asked, const Given& given) {
  return given.baseline.any() && !asked.metrics.empty();
};

template <auto kRows, auto kTable>
Table table(const Results& results) {
  return kTable(results.*kRows);
}

struct ResultFile {
  const char* name;
  Asks is_asked_for;
  Table (*table)(const Results&);
  std::string (*format)(const Table&);
};

constexpr ResultFile kFiles[] = {
    {"summary.csv", always, table<&Results::rows, table_of<ResultRow>>, to_csv},
    {"wide.csv", always, table<&Results::rows, wide_table>, to_csv},
    {"summary.json", always, table<&Results::rows, table_of<ResultRow>>, to_json},
    {"crossings.csv", always, table<&Results::crossings, table_of<CrossingRow>>, to_csv},
    {"contrasts.csv", where_drawn<kSeveralScalings>,
     table<&Results::contrasts, table_of<ContrastRow>>, to_csv},
    {"histogram.csv", where_drawn<kHistogram>, table<&Results::histogram, table_of<HistogramRow>>,
     to_csv},
    {"samples.csv", where_drawn<kSamples>, table<&Results::samples, samples_table>, to_csv},
    {"weights.csv", where_given<kWeights>, table<&Results::weights, table_of<WeightRow>>, to_csv},
    {"outputs.csv", where_given<kOutputs>, table<&Results::outputs, table_of<OutputRow>>, to_csv},
    {"heads.csv", where_given<kBy<GivenPart::kHead>>, table<&Results::heads, table_of<HeadRow>>,
     to_csv},
    {"queries.csv", where_given<kBy<GivenPart::kQuery>>,
     table<&Results::queries, table_of<QueryRow>>, to_csv},
    {"baselines.csv", where_given<kBaseline>, table<&Results::baselines, table_of<BaselineRow>>,
     to_csv},
};

// What programs read about the others.
constexpr const char* kPackageName = "datapackage.json";
constexpr const char* kSqlName = "schema.sql";

}  // namespace

std::vector<std::string> result_file_names() {
  std::vector<std::string> names;
  for (const ResultFile& file : kFiles) names.emplace_back(file.name);
  names.insert(names.end(), {kCoverageName, kPackageName, kSqlName});
  return names;
}

std::vector<std::string> result_file_names(const Config& config) {
  std::vector<std::string> names;
  for (const ResultFile& file : kFiles) {
    if (file.is_asked_for(config)) names.emplace_back(file.name);
  }
  names.insert(names.end(), {kPackageName, kSqlName});
  return names;
}

std::vector<NamedBytes> result_files(const Config& config, const Results& results,
                                     const std::optional<Table>& coverage) {
  std::vector<NamedBytes> files;
  DataPackage package;
  for (const ResultFile& file : kFiles) {
    if (!file.is_asked_for(config)) continue;
    const Table table = file.table(results);
    files.push_back({file.name, file.format(table)});
    if (file.format == to_csv) package.add(file.name, table, files.back().bytes);
  }
  if (coverage) {
    files.push_back({kCoverageName, to_csv(*coverage)});
    package.add(kCoverageName, *coverage, files.back().bytes);
  }
  files.push_back({kPackageName, package.json(config)});
  files.push_back({kSqlName, package.sql()});
  return files;
}

Results read_results(const std::filesystem::path& folder) {
  const auto read_if_there = [&]<typename Row>(const char* name, std::vector<Row>& rows) {
    if (std::filesystem::exists(folder / name)) rows = read_rows<Row>(folder / name);
  };
  Results run;
  run.rows = read_rows<ResultRow>(folder / "summary.csv");
  read_if_there("crossings.csv", run.crossings);
  read_if_there("weights.csv", run.weights);
  read_if_there("outputs.csv", run.outputs);
  read_if_there("heads.csv", run.heads);
  read_if_there("queries.csv", run.queries);
  read_if_there("baselines.csv", run.baselines);
  return run;
}

}  // namespace attnscale
