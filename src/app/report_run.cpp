#include "app/report_run.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/standard_files.h"
#include "experiment/metric.h"
#include "report/report.h"
#include "report/screen_table.h"

namespace attnscale {

namespace {

bool is_of_the_lesson(const std::string& formula) {
  return std::ranges::any_of(
      std::array{": none = q.k", ": div_sqrt_d = q.k / sqrt(d)", ": div_d = q.k / d"},
      [&](const char* line) { return formula.ends_with(line); });
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
  return text + mark + "and " + std::to_string(formulas.size() - kMostShown) +
         " more; manifest.json and attnscale plan have all\n";
}

}  // namespace

std::vector<std::string> formula_lines(const Config& config) {
  std::vector<std::string> lines;
  for (const Experiment& experiment : config.experiments) {
    for (const Scaling& scaling : experiment.scalings) {
      lines.push_back(experiment.name + ": " + name_with_value(scaling.name, scaling.value) +
                      " = " + formula(scaling.rule));
    }
  }
  return lines;
}

std::vector<std::string> formula_lines_of(const std::filesystem::path& folder) {
  std::ifstream file(folder / "manifest.json");
  const auto manifest = nlohmann::json::parse(file, nullptr, false);
  if (!manifest.is_object() || !manifest.contains("logits")) return {};
  return manifest["logits"].get<std::vector<std::string>>();
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
  const bool are_known = std::ranges::all_of(formulas, is_of_the_lesson);
  return are_known ? text : text + formulas_text(formulas, format);
}

void print_report(const Results& results, const std::vector<std::string>& formulas) {
  write_stdout(report_text(results, formulas, TableFormat::kTable, terminal_width(STDOUT_FILENO)));
}

}  // namespace attnscale
