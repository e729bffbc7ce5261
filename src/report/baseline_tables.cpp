#include "report/baseline_tables.h"

#include <string>

#include "report/number_text.h"

namespace attnscale {
namespace {

constexpr int kDigits = 4;

std::string text_of(const std::optional<double>& number) {
  return number ? rounded_short(*number, kDigits) : "-";
}

std::string baseline_text(const BaselineRow& row) {
  if (!row.baseline || !row.baseline_std_error) return text_of(row.baseline);
  return estimate_and_error(*row.baseline, *row.baseline_std_error);
}

ScreenTable table_for(const BaselineRow& row) {
  ScreenTable table;
  table.caption = row.key.experiment + ": " + grouped(row.queries) + " given queries beside " +
                  grouped(row.baseline_queries) +
                  " random ones, normal entries of mean 0 and spread 1, as many visible keys";
  table.header = {"metric", "scaling", "given", "random", "given / random"};
  table.label_columns = 2;
  return table;
}

}  // namespace

std::vector<ScreenTable> baseline_tables(std::span<const BaselineRow> rows) {
  std::vector<ScreenTable> tables;
  const std::string* experiment = nullptr;
  for (const BaselineRow& row : rows) {
    if (experiment == nullptr || *experiment != row.key.experiment) {
      tables.push_back(table_for(row));
      experiment = &row.key.experiment;
    }
    tables.back().rows.push_back({row.metric,
                                  name_with_value(row.key.scaling, row.key.scaling_value),
                                  text_of(row.estimate), baseline_text(row), text_of(row.ratio)});
  }
  return tables;
}

}  // namespace attnscale
