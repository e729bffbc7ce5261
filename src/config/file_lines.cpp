#include "config/file_lines.h"

#include <fmt/core.h>

#include <algorithm>

#include "config/object.h"
#include "config/values.h"
#include "estimate/crossings.h"
#include "experiment/histogram.h"

namespace attnscale {
namespace {

constexpr double kMostLines = 1e7;  // of a file

// Lines of wide.csv.
double wide_lines(const Experiment& experiment) {
  return (experiment.given ? 1 : cell_count(experiment)) *
         static_cast<double>(experiment.scalings.size());
}

void check_samples(const JsonValue& value, const Experiment& experiment) {
  if (experiment.samples == 0) return;
  const JsonValue& samples = *value.find("samples");
  if (experiment.samples > experiment.queries) {
    refuse_found(samples, fmt::format("at most the number of queries, {}", experiment.queries));
  }
  const double lines = static_cast<double>(experiment.samples) * wide_lines(experiment);
  check_file_size(samples, "samples.csv", lines, static_cast<double>(experiment.metrics.size()));
}

void check_histogram(const JsonValue& value, const Experiment& experiment) {
  if (experiment.histogram.empty()) return;
  const double lines =
      static_cast<double>(kHistogramBins * experiment.histogram.size()) * wide_lines(experiment);
  check_file_size(*value.find("histogram"), "histogram.csv", lines, 4);
}

}  // namespace

double cell_count(const Experiment& experiment) {
  return static_cast<double>(experiment.entries.size()) * static_cast<double>(experiment.d.size()) *
         static_cast<double>(experiment.keys.size());
}

void check_file_size(const JsonValue& value, std::string_view file, double lines, double numbers) {
  constexpr double kBytesOfKey = 80;     // the columns that name a line
  constexpr double kBytesOfNumber = 20;  // one number and its comma
  constexpr double kMostBytes = 1024.0 * 1024 * 1024;
  const double bytes = lines * (kBytesOfKey + kBytesOfNumber * numbers);
  if (lines <= kMostLines && bytes <= kMostBytes) return;
  refuse(value, fmt::format("{} would have {} lines, about {} bytes; at most {} lines and {} "
                            "bytes",
                            file, number_text(lines), number_text(bytes), number_text(kMostLines),
                            number_text(kMostBytes)));
}

void add_lines(const JsonValue& value, const Experiment& experiment, FileLines& lines) {
  if (!experiment.given) {
    check_samples(value, experiment);
    check_histogram(value, experiment);
  }
  const double wide = wide_lines(experiment);
  const auto sizes = static_cast<double>(experiment.d.size());
  const bool crosses = sizes > 1 && std::ranges::find(experiment.metrics, "top_weight",
                                                      &MetricRow::name) != experiment.metrics.end();
  const auto add = [&](double& total, std::string_view file, double more) {
    total += more;
    if (total <= kMostLines) return;
    refuse(value, fmt::format("with this experiment {} would have {} lines; at most {} are allowed",
                              file, number_text(total), number_text(kMostLines)));
  };
  add(lines.summary, "summary.csv", wide * static_cast<double>(experiment.metrics.size()));
  if (crosses) add(lines.crossings, "crossings.csv", kMostCrossings * wide / sizes);
  add(lines.samples, "samples.csv", wide * static_cast<double>(experiment.samples));
  add(lines.histogram, "histogram.csv",
      wide * static_cast<double>(kHistogramBins * experiment.histogram.size()));
}

}  // namespace attnscale
