#include "app/commands.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/fingerprint.h"
#include "app/report_run.h"
#include "app/run_folder.h"
#include "config/user_error.h"
#include "experiment/given.h"
#include "experiment/given_scores.h"
#include "experiment/plan.h"
#include "io/result_tables.h"
#include "io/table.h"
#include "numerics/shortest.h"
#include "report/number_text.h"
#include "report/screen_table.h"

namespace attnscale {
namespace {

std::string formulas(const Experiment& experiment) {
  std::string text;
  for (const Scaling& scaling : experiment.scalings) {
    if (!text.empty()) text += "; ";
    text += scaling.name + " = " + formula(scaling.rule);
  }
  return text;
}

std::vector<Value> given_line(const Experiment& experiment) {
  const Given& given = *experiment.given;
  const auto d = size_of(given);
  return {experiment.name,
          "given",
          {},
          d ? Value(*d) : Value(),
          most_visible_keys(given),
          {},
          head_count(given) * query_count(given),
          {},
          {},
          {},
          formulas(experiment)};
}

Table plan_table(const Plan& plan) {
  Table table{{"experiment", "entries", "entries_value", "d", "keys", "sampler", "queries",
               "blocks", "block_queries", "cpu_seconds", "logits", "run", "fingerprint"},
              {}};
  for (std::size_t i = 0; i < plan.config.experiments.size(); ++i) {
    const Experiment& experiment = plan.config.experiments[i];
    if (experiment.given) table.rows.push_back(given_line(experiment));
    for (const Cell& cell : plan.cells) {
      if (cell.experiment != i) continue;
      const Entries& entries = cell.draw.entries;
      table.rows.push_back({experiment.name, entries.name,
                            entries.value ? Value(*entries.value) : Value(), cell.draw.d,
                            cell.draw.keys, std::string(experiment.sampler->name), cell.queries,
                            cell.blocks, cell.block_queries, expected_seconds(experiment, cell),
                            formulas(experiment)});
    }
  }
  const std::string identity = fingerprint(plan.config);
  for (std::vector<Value>& row : table.rows) {
    row.emplace_back(plan.config.name);
    row.emplace_back(identity);
  }
  return table;
}

std::string rounded_seconds(double seconds) {
  if (seconds < 0.01) return "< 0.01";
  std::string text = std::to_string(seconds);
  return text.substr(0, text.find('.') + (seconds < 10 ? 3 : 1));
}

// The same for the eye: one experiment's formulas once, seconds rounded, and the total.
std::string plan_screen(const Plan& plan, const Table& table, const std::string& folder) {
  ScreenTable screen;
  screen.header = {"experiment", "entries", "d",      "keys",
                   "sampler",    "queries", "blocks", "cpu seconds"};
  double total = 0;
  for (const auto& row : table.rows) {
    const auto text = [&](std::size_t column) -> std::string {
      if (const auto* number = std::get_if<std::int64_t>(&row[column])) {
        return std::to_string(*number);
      }
      if (const auto* word = std::get_if<std::string>(&row[column])) return *word;
      return "";
    };
    const auto* seconds = std::get_if<double>(&row[9]);
    if (seconds) total += *seconds;
    const auto* value = std::get_if<double>(&row[2]);
    screen.rows.push_back(
        {text(0), name_with_value(text(1), value ? std::optional(*value) : std::nullopt), text(3),
         text(4), text(5), text(6), text(7), seconds ? rounded_seconds(*seconds) : ""});
  }
  std::string text = to_text(screen, terminal_width(1)) + "\nLogits\n";
  for (const std::string& line : formula_lines(plan.config)) text += "  " + line + "\n";
  return text + "\nExpected: " + (total < 0.01 ? "" : "about ") + rounded_seconds(total) +
         " processor seconds in all; runs nothing\nResults go to " + folder + "\n";
}

/// A row's name, and beside it the lines of its description.
template <typename Row>
std::string table_list(std::span<const Row> rows,
                       std::vector<std::string> (*describe)(const Row&)) {
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.name.size() + 2);
  std::string text;
  for (const Row& row : rows) {
    std::string label(row.name);
    for (const std::string& line : describe(row)) {
      text += label + std::string(width - label.size(), ' ') + line + "\n";
      label.clear();
    }
  }
  return text;
}

/// "; name: help" of every parameter of a row.
template <typename Row>
std::string describe_parameters(const Row& row) {
  std::string text;
  for (const auto& parameter : row.parameters) {
    text += "; " + std::string(parameter.name) + ": " + std::string(parameter.help);
  }
  return text;
}

// Formula, meaning, where it is from, and what it must be told: too much for one line.
std::vector<std::string> describe_scaling(const ScalingRow& row) {
  std::vector<std::string> lines{"logit = " + formula(row), std::string(row.help),
                                 "from: " + std::string(row.source)};
  for (const ScalingParameter& parameter : row.parameters) {
    lines.push_back("needs " + std::string(parameter.name) + ": " + std::string(parameter.help));
  }
  return lines;
}

std::vector<std::string> describe_law(const LawRow& row) {
  return {std::string(row.help) + ": " + std::string(row.formula) + describe_parameters(row)};
}

std::vector<std::string> describe_metric(const MetricRow& row) {
  return {std::string(row.help) + " [" + std::string(row.unit) + "]"};
}

std::vector<std::string> describe_sampler(const SamplerRow& row) {
  return {std::string(row.help)};
}

Results read_finished(const std::string& folder) {
  namespace fs = std::filesystem;
  if (fs::exists(folder) && !fs::is_directory(folder)) {
    throw UserError(folder + ": is a file; expected the folder of a finished run");
  }
  if (!fs::exists(folder)) {
    throw UserError(folder + ": no such folder; attnscale run CONFIG makes one");
  }
  if (!fs::exists(fs::path(folder) / "summary.csv")) {
    throw UserError(folder + ": holds no finished run (no summary.csv in it)");
  }
  return read_results(folder);
}

}  // namespace

std::string plan_text(const PlanCommand& command, std::vector<std::string>& warnings) {
  const LoadedConfig loaded = load_config(command.config, command.overrides);
  warnings = loaded.warnings;
  const Plan plan = make_plan(loaded.config);
  const Table table = plan_table(plan);
  switch (command.format) {
    case TableFormat::kCsv:
      return to_csv(table);
    case TableFormat::kJson:
      return to_json(table);
    default:
      RunCommand run;
      run.overrides = command.overrides;
      return plan_screen(plan, table, results_folder(run, loaded.config).string());
  }
}

std::string show_text(const ShowCommand& command, std::size_t width) {
  std::string text;
  std::vector<ResultRow> joined;
  for (const std::string& folder : command.folders) {
    const Results results = read_finished(folder);
    if (command.format == TableFormat::kCsv) {
      joined.insert(joined.end(), results.rows.begin(), results.rows.end());
      continue;
    }
    if (command.folders.size() > 1) text += folder + "\n\n";
    text += report_text(results, formula_lines_of(folder), command.format, width);
  }
  return command.format == TableFormat::kCsv ? to_csv(summary_table(joined)) : text;
}

std::string softmax_text(const SoftmaxCommand& command) {
  Experiment experiment;
  experiment.name = "softmax";
  experiment.given = Given{};
  experiment.given->scores.rows = {command.scores};
  experiment.given->d = command.d;
  for (const char* name : {"none", "div_sqrt_d", "div_d"}) {
    const Scaling scaling = *find_scaling(name);
    if (command.d || !needs_d(scaling.rule)) experiment.scalings.push_back(scaling);
  }
  ScreenTable screen;
  screen.header = {"scaling", "key", "score", "logit", "weight", "slope p(1-p)"};
  const auto results = measure_given(Config{}, experiment);
  for (const WeightRow& row : results->weights) {
    screen.rows.push_back({row.scaling, std::to_string(row.key), shortest(row.score),
                           shortest(row.logit), rounded(row.weight, 6), rounded(row.slope, 6)});
  }
  return to_text(screen, terminal_width(1));
}

std::string list_text(const ListCommand& command) {
  if (command.what == "scalings") return table_list(scaling_table(), describe_scaling);
  if (command.what == "laws") return table_list(law_table(), describe_law);
  if (command.what == "metrics") return table_list(metric_table(), describe_metric);
  return table_list(sampler_table(), describe_sampler);
}

}  // namespace attnscale
