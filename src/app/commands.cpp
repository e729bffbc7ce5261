#include "app/commands.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/faster_sampler.h"
#include "app/manifest.h"
#include "app/run_folder.h"
#include "config/nearest_name.h"
#include "config/user_error.h"
#include "estimate/given_baseline.h"
#include "experiment/given.h"
#include "experiment/given_scores.h"
#include "experiment/plan.h"
#include "formula/number_words.h"
#include "io/printable.h"
#include "io/result_tables.h"
#include "io/table.h"
#include "numerics/shortest.h"
#include "report/number_text.h"
#include "report/report.h"

namespace attnscale {
namespace {

std::string formulas(const Experiment& experiment) {
  std::vector<std::string> texts;
  for (const Scaling& one : experiment.scalings) texts.push_back(one.name + " = " + formula(one));
  return join(texts, "; ");
}

// Constants of a formula that are recognised, such as "; 0.0078125 = 1/128 = 1/d".
std::string constants_in_words(const Formula& formula, const std::vector<std::int64_t>& sizes) {
  constexpr std::size_t kMostSizes = 8;  // that words are worth reading for
  std::string text;
  for (const FormulaNode& node : formula.nodes()) {
    std::vector<std::string> words = number_words(node.number, 1);
    for (const std::int64_t d : sizes) {
      if (sizes.size() > kMostSizes) break;
      for (const std::string& word : number_words(node.number, static_cast<double>(d))) {
        if (std::ranges::find(words, word) != words.end()) continue;
        words.push_back(sizes.size() == 1 ? word : fmt::format("{} at d = {}", word, d));
      }
    }
    if (words.empty()) continue;
    text += "; " + shortest(node.number);
    for (const std::string& word : words) text += " = " + word;
  }
  return text;
}

// A cell of the plan, or an experiment of given numbers.
struct PlanLine {
  const Experiment* asked;
  std::string entries;
  std::optional<double> entries_value = {};
  std::optional<std::int64_t> d;
  std::int64_t keys;
  std::string sampler = {};  // none for given numbers, nor what follows from it
  std::int64_t queries;
  std::optional<std::int64_t> blocks = {}, block_queries = {};
  double seconds;  // expected
};

PlanLine line_of(const Experiment& experiment, const Given& given) {
  return {.asked = &experiment,
          .entries = "given",
          .d = size_of(given),
          .keys = all_keys(given),
          .queries = head_count(given) * query_count(given),
          .seconds = expected_given_seconds(experiment) + expected_baseline_seconds(experiment) +
                     expected_normal_seconds(experiment)};
}

PlanLine line_of(const Experiment& experiment, const Cell& cell, double seconds) {
  return {&experiment,
          cell.draw.entries.name,
          cell.draw.entries.value,
          cell.draw.d,
          cell.draw.keys,
          std::string(experiment.sampler->name),
          cell.queries,
          cell.blocks,
          cell.block_queries,
          seconds};
}

std::vector<PlanLine> plan_lines(const Plan& plan) {
  std::vector<PlanLine> lines;
  const std::vector<double> seconds = expected_seconds(plan);
  std::size_t cell = 0;
  for (std::size_t i = 0; i < plan.config.experiments.size(); ++i) {
    const Experiment& experiment = plan.config.experiments[i];
    if (experiment.given) lines.push_back(line_of(experiment, *experiment.given));
    for (; cell < plan.cells.size() && plan.cells[cell].experiment == i; ++cell) {
      lines.push_back(line_of(experiment, plan.cells[cell], seconds[cell]));
    }
  }
  return lines;
}

Table plan_table(const Config& config, const std::vector<PlanLine>& lines) {
  const auto value = [](const auto& number) { return number ? Value(*number) : Value(); };
  const auto text = [](const std::string& word) { return word.empty() ? Value() : Value(word); };
  Table table{{"experiment", "entries", "entries_value", "d", "keys", "sampler", "queries",
               "blocks", "block_queries", "cpu_seconds", "logits", "run", "fingerprint"},
              {}};
  const std::string identity = fingerprint(identity_of(config));
  const Experiment* asked = nullptr;
  std::string logits;
  for (const PlanLine& line : lines) {
    if (line.asked != asked) logits = formulas(*line.asked);
    asked = line.asked;
    table.rows.push_back({asked->name, line.entries, value(line.entries_value), value(line.d),
                          line.keys, text(line.sampler), line.queries, value(line.blocks),
                          value(line.block_queries), line.seconds, logits, config.name, identity});
  }
  return table;
}

// The same for a reader: each formula once, rounded seconds, and their total.
std::string plan_screen(const Config& config, const std::vector<PlanLine>& lines,
                        const std::filesystem::path& folder, std::size_t width) {
  const auto whole = [](const auto& number) { return number ? std::to_string(*number) : ""; };
  ScreenTable screen;
  screen.header = {"experiment", "entries", "d",      "keys",
                   "sampler",    "queries", "blocks", "cpu seconds"};
  constexpr double kFilesAndExactMeans = 0.02;  // of a run of no work
  double total = kFilesAndExactMeans;
  for (const PlanLine& line : lines) {
    screen.rows.push_back({line.asked->name, name_with_value(line.entries, line.entries_value),
                           whole(line.d), std::to_string(line.keys), line.sampler,
                           std::to_string(line.queries), whole(line.blocks),
                           seconds_text(line.seconds)});
    total += line.seconds;
  }
  std::string text = to_text(screen, width) + "\nLogits\n";
  const std::vector<std::string> logits = formula_lines(config);
  auto logit = logits.begin();
  for (const Experiment& experiment : config.experiments) {
    for (const Scaling& scaling : experiment.scalings) {
      text += fmt::format("  {}{}\n", *logit++, constants_in_words(scaling.logit, experiment.d));
    }
  }
  const std::vector<std::string> given = given_lines(config);
  if (!given.empty()) text += "\nGiven numbers\n";
  for (const std::string& line : given) text += fmt::format("  {}\n", line);
  text += fmt::format("\nA run would take about {} processor seconds. Nothing was run.\n",
                      seconds_text(total));
  if (const std::string hint = faster_sampler(config); !hint.empty()) text += hint + "\n";
  return text + fmt::format("Results go to {}\n", in_one_line(folder.string()));
}

// Leaves the rows of the named metrics; refuses one that the run did not measure.
void keep_metrics(const std::vector<std::string>& names, const std::string& folder,
                  std::vector<ResultRow>& rows) {
  if (names.empty() || std::ranges::find(names, "all") != names.end()) return;
  std::vector<std::string_view> measured;
  for (const ResultRow& row : rows) {
    if (std::ranges::find(measured, row.metric) == measured.end()) measured.push_back(row.metric);
  }
  for (const std::string& name : names) {
    if (std::ranges::find(measured, name) != measured.end()) continue;
    throw UserError(
        fmt::format("attnscale show: {}: {}", folder, unknown_name("metric", name, measured)));
  }
  std::erase_if(rows, [&](const ResultRow& row) {
    return std::ranges::find(names, row.metric) == names.end();
  });
}

// One table of the summaries of several runs, in which no two can be mistaken for one another.

using nlohmann::ordered_json;

// A finished run: its folder as it was named, without a slash at its end.
struct RunSummary {
  std::string folder;
  std::optional<Manifest> manifest;
  std::vector<ResultRow> rows;
};

constexpr std::size_t kLongestValue = 200;  // given numbers say too much

// Keys of a config by name, such as softmax.keys, and what they hold.
using Settings = std::vector<std::pair<std::string, ordered_json>>;

Settings settings_of(const RunSummary& run) {
  Settings settings;
  if (!run.manifest) return settings;
  const ordered_json config = ordered_json::parse(run.manifest->config.text, nullptr, false);
  if (!config.is_object()) return settings;
  const auto add = [&](const ordered_json& object, const std::string& before) {
    for (const auto& [key, value] : object.items()) {
      const bool has_a_column = key == "name" || key == "seed" || key == "experiments";
      if (!has_a_column) settings.emplace_back(before + key, value);
    }
  };
  add(config, "");
  for (const ordered_json& experiment : config.value("experiments", ordered_json::array())) {
    if (experiment.is_object()) add(experiment, experiment.value("name", "") + ".");
  }
  return settings;
}

// A list of one number is that number.
Value cell_of(const ordered_json& value) {
  if (value.is_array() && value.size() == 1) return cell_of(value.front());
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return text.size() > kLongestValue ? text.substr(0, kLongestValue) + "..." : text;
}

// The names of the settings that are not the same in all runs, in the order of the first that has
// them.
std::vector<std::string> varied_names(const std::vector<Settings>& runs) {
  std::vector<std::string> names;
  std::map<std::string, std::map<std::string, std::size_t>> uses;  // of each value by its text
  for (const Settings& settings : runs) {
    for (const auto& [name, value] : settings) {
      if (!uses.contains(name)) names.push_back(name);
      ++uses[name][value.dump()];
    }
  }
  std::erase_if(names, [&](const std::string& name) {
    const auto& values = uses[name];
    return values.size() == 1 && values.begin()->second == runs.size();
  });
  return names;
}

// The columns of summary.csv behind `run_id`: an r, lest a reader take it for a number, and the
// first 8 digits of the run's fingerprint. Before those of several runs `folder`, and a column for
// each key of the config in which they differ, such as `softmax.keys`; run and seed have theirs
// already.
Table joined_summary(const std::vector<RunSummary>& runs) {
  const bool are_several = runs.size() > 1;
  std::vector<Settings> settings;
  for (const RunSummary& run : runs) settings.push_back(settings_of(run));
  const std::vector<std::string> varied =
      are_several ? varied_names(settings) : std::vector<std::string>();
  Table joined = attnscale::table_of<ResultRow>({});
  std::vector<Column> first;
  if (are_several) first.emplace_back("folder", Empty::kNever, ColumnType::kText);
  first.emplace_back("run_id", Empty::kAllowed, ColumnType::kText);
  for (const std::string& name : varied) first.emplace_back(name);
  joined.columns.insert(joined.columns.begin(), first.begin(), first.end());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<Value> before;
    if (are_several) before.emplace_back(runs[i].folder);
    before.push_back(runs[i].manifest ? Value(fmt::format("r{:.8}", runs[i].manifest->fingerprint))
                                      : Value());
    for (const std::string& name : varied) {
      const auto found = std::ranges::find(settings[i], name, &Settings::value_type::first);
      before.push_back(found == settings[i].end() ? Value() : cell_of(found->second));
    }
    for (std::vector<Value>& row : attnscale::table_of<ResultRow>(runs[i].rows).rows) {
      std::vector<Value> line = before;
      line.insert(line.end(), row.begin(), row.end());
      joined.rows.push_back(std::move(line));
    }
  }
  return joined;
}

}  // namespace

std::string plan_text(const Config& config, const std::vector<Override>& overrides,
                      TableFormat format, std::size_t width) {
  const Plan plan = make_plan(config);
  const std::vector<PlanLine> lines = plan_lines(plan);
  if (format == TableFormat::kCsv) return to_csv(plan_table(config, lines));
  if (format == TableFormat::kJson) return to_json(plan_table(config, lines));
  return plan_screen(config, lines, results_folder(config, overrides), width);
}

std::string show_text(const std::vector<std::string>& folders, TableFormat format,
                      const std::vector<std::string>& metrics, ScreenSize screen) {
  std::string text;
  std::vector<RunSummary> runs;
  for (std::string folder : folders) {
    const std::string place = run_place(folder).string();
    Results results = read_finished(place);
    keep_metrics(metrics, place, results.rows);
    std::optional<Manifest> manifest = read_manifest(place);
    if (format == TableFormat::kCsv || format == TableFormat::kJson) {
      while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
      runs.push_back({std::move(folder), std::move(manifest), std::move(results.rows)});
      continue;
    }
    if (folders.size() > 1) text += in_one_line(folder) + "\n\n";
    const auto asked = metrics.empty() ? Asked::kReport : Asked::kMetrics;
    text += report_text(results, manifest.value_or(Manifest{}).words, format, screen, asked);
  }
  if (format == TableFormat::kJson) return to_json(joined_summary(runs));
  return format == TableFormat::kCsv ? to_csv(joined_summary(runs)) : text;
}

std::string softmax_text(const std::vector<double>& scores, std::optional<std::int64_t> d,
                         std::size_t width) {
  Experiment experiment;
  experiment.name = "softmax";
  experiment.given = Given{};
  experiment.given->scores.rows = {scores};
  experiment.given->d = d;
  for (const std::string_view name : kLessonScalings) {
    const Scaling scaling = *find_scaling(name);
    if (d || !needs_d(scaling.logit)) experiment.scalings.push_back(scaling);
  }
  constexpr double kBarOfOne = 20;
  ScreenTable screen;
  screen.header = {"scaling", "key", "score", "logit", "weight", "slope p(1-p)", "weight as a bar"};
  const auto results = measure_given(Config{}, experiment);
  for (const WeightRow& row : results->weights) {
    screen.rows.push_back(
        {row.key.scaling, std::to_string(row.key_number), shortest(row.score), shortest(row.logit),
         rounded(row.weight, 6), rounded(row.slope, 6),
         std::string(static_cast<std::size_t>(std::lround(kBarOfOne * row.weight)), '#')});
  }
  return to_text(screen, width);
}

}  // namespace attnscale
