// Every file that a run of any config writes can be read again, and holds what was measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/finish_run.h"
#include "config/config.h"
#include "execution/executor.h"
#include "io/csv_reader.h"
#include "io/result_files.h"
#include "io/result_tables.h"
#include "report/report.h"
#include "support/scratch_folder.h"

namespace attnscale {
namespace {

// The corpus, and given numbers whose products overflow to both infinities and to no number.
std::vector<std::string> config_texts() {
  std::ifstream file(ATTNSCALE_SOURCE_DIR "/tests/config_corpus/valid.jsonl");
  std::vector<std::string> texts;
  for (std::string line; std::getline(file, line);) texts.push_back(line);
  EXPECT_GT(texts.size(), 20u);
  texts.push_back(R"({"name": "a", "experiments": [
      {"given": {"queries": [[1e200, 1e200], [1, 2]],
                 "keys": [[1e200, 1], [-1e200, 1], [1e200, -1e200], [1, 1]],
                 "values": [[1], [2], [3], [1e308]]}, "metrics": "all"}]})");
  return texts;
}

// A short run of it: its files, and the results they were made of.
struct ShortRun {
  explicit ShortRun(const std::string& text) : config(parse_config(text, "corpus").config) {
    for (Experiment& experiment : config.experiments) {
      experiment.queries = std::min<std::int64_t>(experiment.queries, 40);
      if (experiment.stop) experiment.stop->min_queries = 2;
    }
    const Plan plan = make_plan(config);
    Ledger ledger(plan);
    ThreadExecutor().measure(plan, ledger, {});
    results = estimate_run(plan, ledger)->results;
  }

  Config config;
  Results results;
};

bool has_lines(const Results& results, const std::string& file) {
  if (file == "contrasts.csv") return !results.contrasts.empty();
  if (file == "histogram.csv") return !results.histogram.empty();
  if (file == "samples.csv") return !results.samples.empty();
  if (file == "weights.csv") return !results.weights.empty();
  if (file == "outputs.csv") return !results.outputs.empty();
  if (file == "heads.csv") return !results.heads.empty();
  if (file == "queries.csv") return !results.queries.empty();
  if (file == "baselines.csv") return !results.baselines.empty();
  return file != "coverage.csv";  // of pools alone; the others are always written
}

// The rows of a file, as the text of their table once more.
std::string read_and_written(const std::filesystem::path& path, const Results& all) {
  const std::string name = path.filename();
  if (name == "summary.csv") return to_csv(table_of<ResultRow>(all.rows));
  if (name == "wide.csv") return to_csv(wide_table(all.rows));
  if (name == "summary.json") return to_json(table_of<ResultRow>(all.rows));
  if (name == "crossings.csv") return to_csv(table_of<CrossingRow>(all.crossings));
  if (name == "contrasts.csv") return to_csv(table_of<ContrastRow>(read_rows<ContrastRow>(path)));
  if (name == "histogram.csv") return to_csv(table_of<HistogramRow>(read_rows<HistogramRow>(path)));
  if (name == "weights.csv") return to_csv(table_of<WeightRow>(all.weights));
  if (name == "outputs.csv") return to_csv(table_of<OutputRow>(all.outputs));
  if (name == "heads.csv") return to_csv(table_of<HeadRow>(all.heads));
  if (name == "queries.csv") return to_csv(table_of<QueryRow>(read_rows<QueryRow>(path)));
  if (name == "baselines.csv") return to_csv(table_of<BaselineRow>(all.baselines));
  return "another file: " + name;
}

TEST(ResultFiles, OfEveryConfigReadBackAsTheyWereWritten) {
  for (const std::string& text : config_texts()) {
    SCOPED_TRACE(text);
    const ScratchFolder folder;
    const ShortRun run(text);
    std::vector<std::string> written;
    for (const NamedBytes& file : result_files(run.config, run.results)) {
      put(folder / file.name, file.bytes);
      written.push_back(file.name);
    }
    for (const std::string& name : result_file_names()) {
      EXPECT_EQ(std::ranges::count(written, name), has_lines(run.results, name) ? 1 : 0) << name;
    }
    const Results read = read_results(folder.path());
    for (const std::string& name : written) {
      const std::string bytes = contents_of(folder / name);
      // Nobody reads these back; tests/cli/data_package_test.py holds them against the others.
      if (name == "datapackage.json" || name == "schema.sql") continue;
      if (name == "samples.csv") {  // whose columns are the metrics
        EXPECT_EQ(read_csv(folder / name).records.size(), run.results.samples.size());
      } else {
        EXPECT_EQ(read_and_written(folder / name, read), bytes) << name;
      }
    }
    EXPECT_EQ(report_text(read, {}, TableFormat::kTable, {.width = 100, .height = 1000}),
              report_text(run.results, {}, TableFormat::kTable, {.width = 100, .height = 1000}));
  }
}

TEST(ResultFiles, OfGivenNumbersTellInfinityFromNoNumber) {
  const ShortRun run(config_texts().back());
  const std::string shown =
      report_text(run.results, {}, TableFormat::kTable, {.width = 100, .height = 1000});
  for (const char* number : {" inf ", " -inf ", " nan "}) {
    EXPECT_NE(shown.find(number), std::string::npos) << number << " in\n" << shown;
  }
}

}  // namespace
}  // namespace attnscale
