#include "report/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "report/given_tables.h"
#include "report/lesson_answers.h"
#include "report/metric_tables.h"

namespace attnscale {
namespace {

bool has_other_scalings(const Results& results) {
  const auto is_another = [](const std::string& scaling) {
    return std::ranges::find(kLessonScalings, scaling) == kLessonScalings.end();
  };
  return std::ranges::any_of(results.rows, is_another,
                             [](const ResultRow& row) { return row.key.scaling; }) ||
         std::ranges::any_of(results.weights, is_another,
                             [](const WeightRow& row) { return row.key.scaling; }) ||
         std::ranges::any_of(results.heads, is_another,
                             [](const HeadRow& row) { return row.key.scaling; });
}

std::string lines_text(const std::string& heading, const std::vector<std::string>& lines,
                       TableFormat format, std::size_t width) {
  if (lines.empty()) return "";
  constexpr std::size_t kMostShown = 24;
  const bool markdown = format == TableFormat::kMarkdown;
  std::string text =
      markdown ? fmt::format("\n## {}\n\n", heading) : fmt::format("\n{}\n", heading);
  const std::string mark = markdown ? "* " : "  ";
  for (std::size_t i = 0; i < std::min(lines.size(), kMostShown); ++i) {
    text += wrapped(mark + lines[i], width, 4) + "\n";
  }
  if (lines.size() <= kMostShown) return text;
  return text + fmt::format("{}and {} more; manifest.json and attnscale plan have all\n", mark,
                            lines.size() - kMostShown);
}

}  // namespace

std::vector<std::string> formula_lines(const Config& config) {
  std::vector<std::string> lines;
  for (const Experiment& experiment : config.experiments) {
    for (const Scaling& scaling : experiment.scalings) {
      lines.push_back(fmt::format("{}: {} = {}", experiment.name,
                                  name_with_value(scaling.name, scaling.value), formula(scaling)));
    }
  }
  return lines;
}

std::string report_text(const Results& run, const ReportWords& words, TableFormat format,
                        std::size_t width, MetricsShown shown) {
  const bool markdown = format == TableFormat::kMarkdown;
  if (markdown) width = std::numeric_limits<std::size_t>::max();
  const std::string heading_mark = markdown ? "## " : "";
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "\n") + part; };
  const auto add_tables = [&](const std::vector<ScreenTable>& tables) {
    for (const ScreenTable& table : tables) {
      add(markdown ? to_markdown(table) : to_text(table, width));
    }
  };
  for (const MetricTables& part :
       metric_tables(run.rows, width, markdown ? MetricsShown::kAsked : shown)) {
    add(wrapped(heading_mark + part.heading, width) + "\n");
    add_tables(part.tables);
  }
  if (shown == MetricsShown::kAsked) return text;
  add_tables(given_tables(run.weights, run.outputs));
  add_tables(head_tables(run.heads));
  add_tables(baseline_tables(run.baselines));
  const std::vector<std::string> answers = lesson_answers(run.rows, run.crossings);
  if (!answers.empty()) add(heading_mark + (markdown ? "Answers\n\n" : "Answers\n"));
  for (const std::string& answer : answers) {
    text += (markdown ? "* " + answer : wrapped(answer, width)) + "\n";
  }
  text += lines_text("Given numbers", words.given, format, width);
  if (!has_other_scalings(run)) return text;
  return text + lines_text("Logits", words.logits, format, width);
}

}  // namespace attnscale
