#include "report/report.h"

#include <limits>
#include <utility>
#include <vector>

#include "report/given_tables.h"
#include "report/lesson_answers.h"

namespace attnscale {
namespace {

// Collects the parts of a report, an empty line between them.
class ReportText {
 public:
  explicit ReportText(const ReportStyle& style) : style_(style) {}

  void add_heading(const std::string& heading) {
    add(markdown() ? "## " + heading + "\n" : heading + "\n");
  }

  void add_table(const ScreenTable& table) {
    add(markdown() ? to_markdown(table) : to_text(table, style_.width));
  }

  void add_list(const std::string& heading, const std::vector<std::string>& lines) {
    std::string text = markdown() ? "## " + heading + "\n\n" : heading + "\n";
    for (const std::string& line : lines) text += (markdown() ? "* " : "") + line + "\n";
    add(text);
  }

  std::string take() { return std::move(text_); }

 private:
  bool markdown() const { return style_.form == TableFormat::kMarkdown; }

  void add(const std::string& part) {
    if (!text_.empty()) text_ += "\n";
    text_ += part;
  }

  const ReportStyle& style_;
  std::string text_;
};

}  // namespace

std::string report(const Results& run, const ReportStyle& style) {
  const std::size_t width =
      style.form == TableFormat::kMarkdown ? std::numeric_limits<std::size_t>::max() : style.width;
  ReportText text(style);
  for (const MetricTables& part : metric_tables(run.rows, width, style.metric_title)) {
    text.add_heading(part.heading);
    for (const ScreenTable& table : part.tables) text.add_table(table);
  }
  for (const ScreenTable& table : given_tables(run.weights, run.outputs)) text.add_table(table);
  for (const ScreenTable& table : baseline_tables(run.baselines)) text.add_table(table);
  const std::vector<std::string> answers = lesson_answers(run.rows, run.crossings);
  if (!answers.empty()) text.add_list("Look for", answers);
  return text.take();
}

}  // namespace attnscale
