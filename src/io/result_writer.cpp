#include "io/result_writer.h"

#include <array>

#include "io/result_tables.h"

namespace attnscale {
namespace {

enum class Presence { kAlways, kWhereFilled };

struct ResultFile {
  const char* name;
  Presence presence;
  Table (*table)(const Results&);
  std::string (*format)(const Table&);
};

Table summary(const Results& results) {
  return summary_table(results.rows);
}
Table wide(const Results& results) {
  return wide_table(results.rows);
}
Table crossings(const Results& results) {
  return crossings_table(results.crossings);
}
Table contrasts(const Results& results) {
  return contrasts_table(results.contrasts);
}
Table histogram(const Results& results) {
  return histogram_table(results.histogram);
}
Table samples(const Results& results) {
  return samples_table(results.samples);
}
Table weights(const Results& results) {
  return weights_table(results.weights);
}
Table outputs(const Results& results) {
  return outputs_table(results.outputs);
}
Table baselines(const Results& results) {
  return baselines_table(results.baselines);
}

constexpr std::array kFiles{
    ResultFile{"summary.csv", Presence::kAlways, summary, to_csv},
    ResultFile{"wide.csv", Presence::kAlways, wide, to_csv},
    ResultFile{"summary.json", Presence::kAlways, summary, to_json},
    ResultFile{"crossings.csv", Presence::kAlways, crossings, to_csv},
    ResultFile{"contrasts.csv", Presence::kWhereFilled, contrasts, to_csv},
    ResultFile{"histogram.csv", Presence::kWhereFilled, histogram, to_csv},
    ResultFile{"samples.csv", Presence::kWhereFilled, samples, to_csv},
    ResultFile{"weights.csv", Presence::kWhereFilled, weights, to_csv},
    ResultFile{"outputs.csv", Presence::kWhereFilled, outputs, to_csv},
    ResultFile{"baselines.csv", Presence::kWhereFilled, baselines, to_csv},
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
