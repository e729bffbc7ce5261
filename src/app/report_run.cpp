#include "app/report_run.h"

#include <unistd.h>

#include "app/standard_files.h"
#include "experiment/metric.h"
#include "io/report.h"
#include "io/screen_table.h"

namespace attnscale {

std::string report_text(const Results& results, TableFormat format, std::size_t width) {
  ReportStyle style;
  style.form = format == TableFormat::kMarkdown ? ReportForm::kMarkdown : ReportForm::kText;
  style.width = width;
  style.metric_title = [](const std::string& name) {
    const MetricRow* metric = find_metric(name);
    return metric ? std::string(metric->title) : name;
  };
  return report(results, style);
}

void print_report(const Results& results) {
  write_stdout(report_text(results, TableFormat::kTable, terminal_width(STDOUT_FILENO)));
}

}  // namespace attnscale
