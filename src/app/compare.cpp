#include "app/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "app/manifest.h"
#include "app/run_folder.h"
#include "config/config.h"
#include "config/user_error.h"
#include "estimate/difference.h"
#include "experiment/metric.h"
#include "experiment/plan.h"
#include "io/result_tables.h"
#include "io/table.h"
#include "report/number_text.h"

namespace attnscale {
namespace {

struct ComparedRun {
  std::string folder;
  std::vector<ResultRow> rows;
  std::set<std::uint64_t> seeds;
  std::optional<Plan> plan;  // none if its config asks for what this program does not know
  std::map<ResultKey, std::vector<SampleRow>> samples;  // single queries, in their order
};

ComparedRun read_compared(const std::string& folder) {
  const std::filesystem::path place = run_place(folder);
  ComparedRun run{folder, read_finished(place).rows, {}, std::nullopt, {}};
  if (std::filesystem::exists(place / "samples.csv")) {
    for (SampleRow& row : read_rows<SampleRow>(place / "samples.csv")) {
      run.samples[row.key].push_back(std::move(row));
    }
  }
  const std::optional<Manifest> manifest = read_manifest(place);
  if (!manifest) return run;
  run.seeds = {manifest->part.seeds.begin(), manifest->part.seeds.end()};
  if (run.seeds.empty()) run.seeds = {manifest->seed};
  try {
    run.plan = make_plan(parse_config(manifest->config.text, folder).config);
    for (Cell& cell : run.plan->cells) cell.queries *= manifest->part.runs();
    for (Experiment& experiment : run.plan->config.experiments) {
      if (!experiment.given) continue;
      experiment.given->weights = true;  // neither these nor baselines are in the lines
      experiment.given->baseline = {};
    }
  } catch (const UserError&) {
    // Then nothing is known of what it drew.
  }
  return run;
}

// The given numbers of a line; nullptr if it was drawn, or not known.
const Given* given_of(const std::optional<Plan>& plan, const ResultRow& row) {
  if (!plan) return nullptr;
  const auto found =
      std::ranges::find(plan->config.experiments, row.key.experiment, &Experiment::name);
  return found != plan->config.experiments.end() && found->given ? &*found->given : nullptr;
}

// The scaling of a line and the cell it was drawn in; nullptr if it was not drawn, or not known.
struct LineSource {
  const Cell* cell = nullptr;
  const Scaling* scaling = nullptr;
  double saturated_above = 0;
};

LineSource source_of(const std::optional<Plan>& plan, const ResultRow& row) {
  if (!plan) return {};
  for (const Cell& cell : plan->cells) {
    const Experiment& experiment = plan->experiment_of(cell);
    if (experiment.name != row.key.experiment || row.queries > cell.queries) continue;
    for (const Scaling& scaling : experiment.scalings) {
      if (key_of(*plan, cell, scaling) == row.key) {
        return {&cell, &scaling, experiment.saturated_above};
      }
    }
  }
  return {};
}

// The metric of each of the line's samples: its value, of a root mean square its square.
std::vector<std::optional<double>> sampled(const ComparedRun& run, const ResultRow& row) {
  std::vector<std::optional<double>> values;
  const auto samples = run.samples.find(row.key);
  if (samples == run.samples.end()) return values;
  const MetricRow* metric = find_metric(row.metric);
  const bool squared = metric != nullptr && metric->is_root_mean_square;
  for (const SampleRow& sample : samples->second) {
    const auto found = std::ranges::find(sample.values, row.metric,
                                         &std::pair<std::string, std::optional<double>>::first);
    if (found == sample.values.end()) return {};
    values.push_back(squared && found->second ? *found->second * *found->second : found->second);
  }
  return values;
}

Shared shared_draws(const ComparedRun& run_a, const ComparedRun& run_b, const ResultRow& a,
                    const ResultRow& b) {
  if (a.key.entries.empty()) {
    const Given* numbers = given_of(run_a.plan, a);
    const Given* others = given_of(run_b.plan, b);
    const bool are_same = numbers != nullptr && others != nullptr && *numbers == *others;
    return {are_same ? "numbers" : "none", 0};
  }
  constexpr std::size_t kFewestSamples = 100;  // a correlation r is known to (1 - r^2) / 10
  const LineSource ours = source_of(run_a.plan, a);
  const LineSource theirs = source_of(run_b.plan, b);
  if (ours.cell == nullptr || theirs.cell == nullptr) return {};
  const bool drawn_alike = ours.cell->identity == theirs.cell->identity &&
                           ours.cell->block_queries == theirs.cell->block_queries;
  const auto is_shared = [&](std::uint64_t seed) { return run_b.seeds.contains(seed); };
  if (!drawn_alike || std::ranges::none_of(run_a.seeds, is_shared)) return {};
  if (run_a.seeds != run_b.seeds || a.queries != b.queries) return {"queries", -1};
  if (*ours.scaling == *theirs.scaling && ours.saturated_above == theirs.saturated_above) {
    return {"logits", 1};
  }
  const std::vector<std::optional<double>> of_a = sampled(run_a, a);
  const std::vector<std::optional<double>> of_b = sampled(run_b, b);
  std::vector<std::pair<double, double>> pairs;
  for (std::size_t i = 0; i < std::min(of_a.size(), of_b.size()); ++i) {
    if (of_a[i] && of_b[i]) pairs.emplace_back(*of_a[i], *of_b[i]);
  }
  const std::optional<double> measured =
      pairs.size() < kFewestSamples ? std::nullopt : correlation(pairs);
  return measured && *measured < 1 ? Shared{"paired", *measured} : Shared{"queries", -1};
}

std::string with_error(const std::optional<double>& value, const std::optional<double>& error) {
  if (!value) return "";
  return error ? estimate_and_error(*value, *error, ErrorForm::kLastDigits)
               : rounded_short(*value, 5);
}

std::string label_of(const ResultKey& key, std::size_t column) {
  switch (column) {
    case 0:
      return key.experiment;
    case 1:
      return key.entries.empty() ? "" : name_with_value(key.entries, key.entries_value);
    case 2:
      return key.d ? std::to_string(*key.d) : "";
    case 3:
      return std::to_string(key.keys);
    default:
      return name_with_value(key.scaling, key.scaling_value);
  }
}

// The furthest lines, and what their errors are. Labels that do not vary are left out.
ScreenTable screen_of(const Differences& found, const ComparedRun& a, const ComparedRun& b) {
  constexpr std::size_t kMostShown = 20;
  const std::vector<const char*> labels{"experiment", "entries", "d", "keys", "scaling"};
  const auto& rows = found.rows;
  ScreenTable screen;
  screen.caption = fmt::format("{} (B) less {} (A), the furthest lines first", b.folder, a.folder);
  std::vector<std::size_t> varied;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto differs = [&](const DifferenceRow& row) {
      return label_of(row.key, i) != label_of(rows.front().key, i);
    };
    if (std::ranges::none_of(rows, differs)) continue;
    varied.push_back(i);
    screen.header.emplace_back(labels[i]);
  }
  screen.header.emplace_back("metric");
  screen.label_columns = screen.header.size();
  for (const char* column : {"A", "B", "B - A", "z", "shared"}) screen.header.emplace_back(column);
  for (const DifferenceRow& row : std::span(rows).first(std::min(rows.size(), kMostShown))) {
    std::vector<std::string>& cells = screen.rows.emplace_back();
    for (const std::size_t i : varied) cells.push_back(label_of(row.key, i));
    const bool cancels = row.std_error && *row.std_error == 0;
    cells.insert(cells.end(), {row.metric, with_error(row.a, row.a_std_error),
                               with_error(row.b, row.b_std_error),
                               with_error(row.difference, cancels ? std::nullopt : row.std_error),
                               row.z ? with_places(*row.z, 2) : "", row.shared});
  }
  const auto count = [&](const char* shared, bool of_given = false) {
    return std::ranges::count_if(rows, [&](const DifferenceRow& row) {
      return row.shared == shared && row.key.entries.empty() == of_given;
    });
  };
  const auto note = [&](auto number, const std::string& text) {
    if (number > 0) screen.notes.push_back(fmt::format("{} {}", number, text));
  };
  note(rows.size() - screen.rows.size(), "more lines are nearer; --format csv has all");
  note(count("none"),
       "lines share nothing: the error is the root of the sum of both errors' squares");
  note(count("none", true), "lines are of given numbers, which have no error");
  note(count("numbers", true), "lines are of the same given numbers: there is no chance in them");
  note(count("queries"),
       "lines share queries, but not all of them, or not their logits: the error is at most the "
       "sum of both, as here; of the same queries 100 samples or more in both runs tell it");
  note(count("paired"),
       "lines share their queries: the error is that of pairs, by the correlation in samples.csv");
  note(count("logits"),
       "lines share their queries and logits: chance cancels, what differs is not chance");
  note(found.only_a, "lines are in A alone");
  note(found.only_b, "lines are in B alone");
  return screen;
}

}  // namespace

std::string compare_text(const std::string& folder_a, const std::string& folder_b,
                         TableFormat format, std::size_t width) {
  const ComparedRun a = read_compared(folder_a);
  const ComparedRun b = read_compared(folder_b);
  const auto shared = [&](const ResultRow& of_a, const ResultRow& of_b) {
    return shared_draws(a, b, of_a, of_b);
  };
  const Differences found = differences(a.rows, b.rows, shared);
  if (found.rows.empty()) {
    throw UserError(fmt::format(
        "attnscale compare: {} and {} have no line in common; lines are the same if experiment, "
        "entries, d, keys, scaling and metric are",
        a.folder, b.folder));
  }
  const Table table = table_of<DifferenceRow>(found.rows);
  if (format == TableFormat::kCsv) return to_csv(table);
  if (format == TableFormat::kJson) return to_json(table);
  const ScreenTable screen = screen_of(found, a, b);
  return format == TableFormat::kMarkdown ? to_markdown(screen) : to_text(screen, width);
}

}  // namespace attnscale
