#include "app/report_run.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "app/manifest.h"
#include "app/process.h"
#include "experiment/metric.h"
#include "report/report.h"

namespace attnscale {
namespace {

bool has_other_scalings(const Results& results) {
  const auto is_another = [](const std::string& scaling) {
    return std::ranges::find(kLessonScalings, scaling) == kLessonScalings.end();
  };
  return std::ranges::any_of(results.rows, is_another,
                             [](const ResultRow& row) { return row.key.scaling; }) ||
         std::ranges::any_of(results.weights, is_another, &WeightRow::scaling);
}

std::string formulas_text(const std::vector<std::string>& formulas, TableFormat format) {
  constexpr std::size_t kMostShown = 24;
  const bool markdown = format == TableFormat::kMarkdown;
  std::string text = markdown ? "\n## Logits\n\n" : "\nLogits\n";
  const std::string mark = markdown ? "* " : "  ";
  for (std::size_t i = 0; i < std::min(formulas.size(), kMostShown); ++i) {
    text += mark + formulas[i] + "\n";
  }
  if (formulas.size() <= kMostShown) return text;
  return text + fmt::format("{}and {} more; manifest.json and attnscale plan have all\n", mark,
                            formulas.size() - kMostShown);
}

}  // namespace

std::vector<std::string> formula_lines(const Config& config) {
  std::vector<std::string> lines;
  for (const Experiment& experiment : config.experiments) {
    for (const Scaling& scaling : experiment.scalings) {
      lines.push_back(fmt::format("{}: {} = {}", experiment.name,
                                  name_with_value(scaling.name, scaling.value),
                                  formula(scaling.rule)));
    }
  }
  return lines;
}

std::vector<std::string> formula_lines_of(const std::filesystem::path& folder) {
  const auto manifest = read_manifest(folder);
  return manifest ? manifest->logits : std::vector<std::string>();
}

std::string report_text(const Results& results, const std::vector<std::string>& formulas,
                        TableFormat format, std::size_t width) {
  ReportStyle style;
  style.form = format;
  style.width = width;
  style.metric_title = [](const std::string& name) {
    const MetricRow* metric = find_metric(name);
    return metric ? std::string(metric->title) : name;
  };
  const std::string text = report(results, style);
  const bool explain = !formulas.empty() && has_other_scalings(results);
  return explain ? text + formulas_text(formulas, format) : text;
}

void print_report(const Results& results, const std::vector<std::string>& formulas) {
  write_stdout(report_text(results, formulas, TableFormat::kTable, terminal_width(STDOUT_FILENO)));
}

}  // namespace attnscale
