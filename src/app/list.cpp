#include "app/list.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/manifest.h"
#include "app/run_folder.h"
#include "config/config.h"
#include "config/nearest_name.h"
#include "config/user_error.h"
#include "draw/law.h"
#include "draw/sampler.h"
#include "experiment/given_scores.h"
#include "experiment/metric.h"
#include "experiment/plan.h"
#include "experiment/precision_sets.h"
#include "experiment/presets.h"
#include "io/printable.h"
#include "io/table.h"

namespace attnscale {
namespace {

namespace fs = std::filesystem;

// A row of a table of names: for the screen, and its values for programs.
struct NamedRow {
  std::vector<std::string> lines;
  std::vector<std::string> values;  // the name first
};

template <typename Parameters>
std::string parameters_text(const Parameters& parameters) {
  std::string text;
  for (const auto& parameter : parameters) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", parameter.name, parameter.help);
  }
  return text;
}

// Formula, meaning, origin and the numbers it needs: too much for one line.
NamedRow named(const PresetRow& row) {
  NamedRow named{
      {"logit = " + formula(row), std::string(row.help), fmt::format("from: {}", row.source)},
      {std::string(row.name), formula(row), std::string(row.help), std::string(row.source),
       parameters_text(row.parameters())}};
  for (const PresetParameter& parameter : row.parameters()) {
    named.lines.push_back(parameter.is_required()
                              ? fmt::format("needs {}: {}", parameter.name, parameter.help)
                              : fmt::format("takes {}: {}; {} by default", parameter.name,
                                            parameter.help, parameter.fallback));
  }
  return named;
}

NamedRow named(const LawRow& row) {
  const std::string parameters = parameters_text(row.parameters);
  return {{fmt::format("{}: {}{}{}", row.help, row.formula, parameters.empty() ? "" : "; ",
                       parameters)},
          {std::string(row.name), std::string(row.formula), std::string(row.help), parameters}};
}

NamedRow named(const MetricRow& row) {
  return {{fmt::format("{} [{}]", row.help, row.unit)},
          {std::string(row.name), std::string(row.title), std::string(row.help),
           std::string(row.unit)}};
}

NamedRow named(const PrecisionSet& row) {
  const std::string steps = steps_text(row.steps, NormaliserKind::kSoftmax).substr(2);
  return {{std::string(row.help), steps, fmt::format("from: {}", row.source)},
          {std::string(row.name), steps, std::string(row.help), std::string(row.source)}};
}

NamedRow named(const SamplerRow& row) {
  return {{std::string(row.help)}, {std::string(row.name), std::string(row.help)}};
}

template <auto table>
std::vector<NamedRow> named_rows() {
  std::vector<NamedRow> rows;
  for (const auto& row : table()) rows.push_back(named(row));
  return rows;
}

struct NameList {
  std::string_view name;
  std::string_view noun;
  std::vector<std::string> columns;
  std::vector<NamedRow> (*rows)();
};

const std::vector<NameList>& name_lists() {
  static const std::vector<NameList> lists = {
      {"scalings",
       "scaling",
       {"name", "logit", "help", "source", "parameters"},
       named_rows<preset_table>},
      {"laws", "law", {"name", "formula", "help", "parameters"}, named_rows<law_table>},
      {"metrics", "metric", {"name", "title", "help", "unit"}, named_rows<metric_table>},
      {"precisions", "precision", {"name", "steps", "help", "source"}, named_rows<precision_sets>},
      {"samplers", "sampler", {"name", "help"}, named_rows<sampler_table>},
  };
  return lists;
}

std::string names_text(const NameList& list, const std::string& word, TableFormat format,
                       std::size_t screen) {
  std::vector<NamedRow> rows = list.rows();
  if (!word.empty()) {
    std::vector<std::string_view> names;
    for (const NamedRow& row : rows) names.push_back(row.values.front());
    if (std::ranges::find(names, word) == names.end()) {
      throw UserError(
          fmt::format("attnscale list {}: {}", list.name, unknown_name(list.noun, word, names)));
    }
    std::erase_if(rows, [&](const NamedRow& row) { return row.values.front() != word; });
  }
  if (format != TableFormat::kTable) {
    Table table{{list.columns.begin(), list.columns.end()}, {}};
    for (const NamedRow& row : rows) table.rows.emplace_back(row.values.begin(), row.values.end());
    return format == TableFormat::kJson ? to_json(table) : to_csv(table);
  }
  std::size_t width = 0;
  for (const NamedRow& row : rows) width = std::max(width, row.values.front().size() + 2);
  std::string text;
  for (const NamedRow& row : rows) {
    std::string_view label = row.values.front();
    for (const std::string& line : row.lines) {
      text += list_entry(label, line, width, screen);
      label = "";
    }
  }
  return text;
}

// What --set and --seed changed, of the arguments as they were typed.
std::string changes_of(const std::vector<std::string>& arguments) {
  std::string text;
  const auto add = [&](const std::string& change) { text += (text.empty() ? "" : " ") + change; };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (const std::string option : {"--set", "--seed"}) {
      const std::string before = option == "--seed" ? "seed=" : "";
      if (arguments[i] == option && i + 1 < arguments.size()) add(before + arguments[i + 1]);
      if (arguments[i].starts_with(option + "=")) {
        add(before + arguments[i].substr(option.size() + 1));
      }
    }
  }
  return text;
}

// The queries that a run draws at most, or was given; empty if its config asks for what is not
// there any more.
std::optional<std::int64_t> queries_of(const Manifest& manifest, const fs::path& folder) {
  try {
    const Plan plan = make_plan(parse_config(manifest.config.text, folder.string()).config);
    std::int64_t queries = 0;
    for (const Cell& cell : plan.cells) queries += cell.queries;
    for (const Experiment& experiment : plan.config.experiments) {
      if (experiment.given)
        queries += head_count(*experiment.given) * query_count(*experiment.given);
    }
    return queries;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

std::string runs_text(const std::string& word, TableFormat format, std::size_t width) {
  const fs::path parent = word.empty() ? "results" : word;
  if (!fs::is_directory(parent)) {
    throw UserError(parent.string() + ": no such folder; name the one that holds folders of runs");
  }
  std::vector<fs::path> folders{parent};
  for (const auto& entry : fs::directory_iterator(parent)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  Table table{{"folder", "run", "seed", "changes", "queries", "status", "ended"}, {}};
  for (const fs::path& folder : folders) {
    const std::optional<Manifest> manifest = read_manifest(folder);
    if (manifest) {
      const std::string changes = changes_of(manifest->arguments);
      const auto queries = queries_of(*manifest, folder);
      const RunPart& part = manifest->part;
      table.rows.push_back(
          {folder.string(), manifest->run, static_cast<std::int64_t>(manifest->seed),
           changes.empty() ? Value() : Value(changes),
           queries ? Value(*queries * part.runs()) : Value(),
           part == RunPart{} ? manifest->status
                             : fmt::format("{}, {}", manifest->status, short_name(part)),
           manifest->ended});
    } else if (fs::exists(folder / "events.jsonl")) {
      table.rows.push_back({folder.string(), {}, {}, {}, {}, "unfinished", {}});
    }
  }
  if (format == TableFormat::kCsv) return to_csv(table);
  if (format == TableFormat::kJson) return to_json(table);
  if (table.rows.empty()) return fmt::format("no runs in {}\n", in_one_line(parent.string()));
  constexpr std::size_t kToTheMinute = 16;
  ScreenTable screen;
  for (const Column& column : table.columns) screen.header.push_back(column.name);
  for (const auto& row : table.rows) {
    std::vector<std::string>& cells = screen.rows.emplace_back();
    for (const Value& value : row) cells.push_back(cell_text(value));
    cells.back() = cells.back().substr(0, kToTheMinute);
  }
  return to_text(screen, width);
}

}  // namespace

std::vector<std::string_view> list_names() {
  std::vector<std::string_view> names;
  for (const NameList& list : name_lists()) names.push_back(list.name);
  names.emplace_back("runs");
  return names;
}

std::string list_text(const std::string& what, const std::string& word, TableFormat format,
                      std::size_t width) {
  for (const NameList& list : name_lists()) {
    if (list.name == what) return names_text(list, word, format, width);
  }
  return runs_text(word, format, width);
}

}  // namespace attnscale
