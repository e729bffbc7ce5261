#include "report/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "report/given_tables.h"
#include "report/lesson_answers.h"

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

std::string answers_text(const Results& run, bool markdown, std::size_t width) {
  std::string text;
  for (const std::string& answer : lesson_answers(run.rows, run.crossings)) {
    if (text.empty()) text = markdown ? "\n## Answers\n\n" : "\nAnswers\n";
    text += (markdown ? "* " + answer : wrapped(answer, width)) + "\n";
  }
  return text;
}

bool has_many_metrics(const std::vector<ResultRow>& rows) {
  constexpr std::size_t kMostMetrics = 8;
  std::size_t metrics = 0;
  for (std::size_t i = 0; i < rows.size() && metrics <= kMostMetrics; ++i) {
    metrics = i > 0 && rows[i].key == rows[i - 1].key ? metrics + 1 : 1;
  }
  return metrics > kMostMetrics;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::string first_lines(const std::string& text, std::size_t lines) {
  std::size_t end = 0;
  for (; lines > 0 && end < text.size(); --lines) end = text.find('\n', end) + 1;
  return text.substr(0, end);
}

// As many lines of the tables as a screen has room for beside the answers, which get half of it at
// most; it has a line more for the command and one for what is said on stderr.
std::string in_screen(const std::string& tables, const std::string& answers,
                      const std::string& words, ScreenSize screen) {
  constexpr std::size_t kBeside = 2;
  constexpr std::size_t kLeast = 10;
  if (lines_of(tables + answers + words) + kBeside <= screen.height) {
    return tables + answers + words;
  }
  const std::string note =
      wrapped("  the rest: attnscale show DIR --format markdown, or --metric NAME", screen.width,
              4) +
      "\n";
  const std::size_t room = std::max(screen.height, kLeast) - kBeside - lines_of(note);
  const std::string shown = first_lines(answers, room / 2);
  return first_lines(tables, room - lines_of(shown)) + shown + note;
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
                        ScreenSize screen, Asked asked) {
  const bool markdown = format == TableFormat::kMarkdown;
  const std::size_t width = markdown ? std::numeric_limits<std::size_t>::max() : screen.width;
  const std::string heading_mark = markdown ? "## " : "";
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "\n") + part; };
  const auto add_tables = [&](const std::vector<ScreenTable>& tables) {
    for (const ScreenTable& table : tables) {
      add(markdown ? to_markdown(table) : to_text(table, width));
    }
  };
  const bool is_cut = !markdown && asked == Asked::kReport && has_many_metrics(run.rows);
  for (const MetricTables& part :
       metric_tables(run.rows, width, is_cut ? MetricsShown::kLesson : MetricsShown::kAll)) {
    add(wrapped(heading_mark + part.heading, width) + "\n");
    add_tables(part.tables);
  }
  if (asked == Asked::kMetrics) return text;
  add_tables(given_tables(run.weights, run.outputs));
  add_tables(head_tables(run.heads));
  add_tables(baseline_tables(run.baselines));
  const std::string answers = answers_text(run, markdown, width);
  std::string logits = lines_text("Given numbers", words.given, format, width);
  if (has_other_scalings(run)) logits += lines_text("Logits", words.logits, format, width);
  if (is_cut) return in_screen(text, answers, logits, screen);
  return text + answers + logits;
}

}  // namespace attnscale
