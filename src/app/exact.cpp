#include "app/exact.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "config/config.h"
#include "config/nearest_name.h"
#include "config/user_error.h"
#include "config/values.h"
#include "estimate/exact_reach.h"
#include "experiment/metric_range.h"
#include "experiment/plan.h"
#include "io/json_text.h"
#include "io/table.h"
#include "report/number_text.h"

namespace attnscale {
namespace {

struct ExactCommand {
  std::vector<Override> asked;  // d, keys, scalings and metrics, as far as they are given
  std::vector<double> levels;   // to be reached; empty for a table of values
};

// A preset by its name; a formula under a name that its letters and digits make.
std::string scaling_json(std::string_view text) {
  if (is_name(text) && text.find(".k") == std::string_view::npos) return quote(text);
  std::string name;
  for (const char c : text) {
    const bool is_of_name = is_name(std::string_view(&c, 1)) || c == '.';
    if (is_of_name) name += c;
    if (!is_of_name && !name.empty() && name.back() != '_') name += '_';
  }
  while (name.ends_with('_')) name.pop_back();
  return fmt::format(R"({{"name": {}, "logit": {}}})", quote(name), quote(text));
}

ExactCommand exact_command(const Arguments& arguments) {
  arguments.no_words();
  ExactCommand exact;
  for (const char* key : {"d", "keys"}) {
    const auto text = arguments.text(key);
    if (!text) continue;
    const std::string json = axis_json(*text);
    const std::string place = fmt::format("--{} {}", key, *text);
    if (json.find("..") != std::string::npos) {
      arguments.refuse(
          fmt::format("{}: a range ends with its step, as 4..1024x4 or 2..10+2", place));
    }
    exact.asked.push_back({key, json, place});
  }
  const auto add_names = [&](const char* option, const char* key,
                             std::string (*json_of)(std::string_view)) {
    const std::vector<std::string> texts = arguments.texts(option);
    if (texts.empty()) return;
    exact.asked.push_back(
        {key, names_json(texts, json_of), fmt::format("--{} {}", option, join(texts, " "))});
  };
  add_names("scaling", "scalings", scaling_json);
  add_names("metric", "metrics", quote);
  if (const auto levels = arguments.text("reach")) {
    exact.levels = parse_numbers(arguments, "levels to reach", *levels);
  }
  return exact;
}

bool is_asked(const ExactCommand& command, std::string_view key) {
  return std::ranges::find(command.asked, key, &Override::path) != command.asked.end();
}

// The plan of a run that measures what is asked; what is not asked has the config's defaults.
Plan plan_of(const ExactCommand& command, ReachedBy what) {
  std::vector<Override> overrides = command.asked;
  const auto by_default = [&](const char* key, const char* value) {
    if (!is_asked(command, key)) overrides.push_back({key, value});
  };
  if (!command.levels.empty()) {
    by_default("metrics", R"(["top_weight"])");
    if (what == ReachedBy::kFactor) by_default("scalings", R"(["none"])");
  }
  const char* kLargestSizes =
      R"({"name": "exact", "sampler": "direct", "experiments": [{"d": 1}]})";
  return make_plan(parse_config(kLargestSizes, "attnscale exact", overrides).config);
}

ReachedBy missing_of(const ExactCommand& command) {
  if (!is_asked(command, "d")) return ReachedBy::kD;
  return is_asked(command, "keys") ? ReachedBy::kFactor : ReachedBy::kKeys;
}

// One answer, with all that it is about.
struct ExactLine {
  const Cell& cell;
  const Scaling& scaling;
  const MetricRow& metric;
  std::optional<double> value = {};  // without a level
  std::optional<double> level = {};
  Reach reach = {};
};

std::vector<ExactLine> value_lines(const Plan& plan) {
  ExactValues exact(ReferenceMode::kAuto);
  const Experiment& experiment = plan.config.experiments.front();
  std::vector<ExactLine> lines;
  for (const Cell& cell : plan.cells) {
    for (const Scaling& scaling : experiment.scalings) {
      const auto values = exact.of(experiment, cell, scaling);
      for (std::size_t i = 0; i < values.size(); ++i) {
        lines.push_back({cell, scaling, *experiment.metrics[i], values[i]});
      }
    }
  }
  return lines;
}

std::vector<ExactLine> reach_lines(const Plan& plan, const std::vector<double>& levels,
                                   ReachedBy what) {
  ExactReach exact;
  const Experiment& experiment = plan.config.experiments.front();
  std::vector<ExactLine> lines;
  for (const Cell& cell : plan.cells) {
    for (const double level : levels) {
      for (const Scaling& scaling : experiment.scalings) {
        for (const MetricRow* metric : experiment.metrics) {
          lines.push_back(
              {cell,
               scaling,
               *metric,
               {},
               level,
               exact.of(cell.draw, scaling, *metric, experiment.saturated_above, level, what)});
        }
      }
    }
  }
  return lines;
}

// Refuses a level that a metric has nowhere, with any of the keys and scalings that are asked
// about.
void expect_possible(const Plan& plan, const std::vector<double>& levels, ReachedBy what) {
  const Experiment& experiment = plan.config.experiments.front();
  const std::int64_t keys =
      what == ReachedBy::kKeys ? experiment.sampler->max_keys : std::ranges::max(experiment.keys);
  for (const MetricRow* metric : experiment.metrics) {
    MetricRange widest = metric_range(*metric, keys, experiment.scalings.front().weights);
    for (const Scaling& scaling : experiment.scalings) {
      widest.most = std::max(widest.most, metric_range(*metric, keys, scaling.weights).most);
    }
    for (const double level : levels) {
      if (is_possible(level, widest)) continue;
      throw UserError(fmt::format("attnscale exact: --reach: {} of {} is not possible; expected {}",
                                  metric->name, rounded_short(level, 6), range_text(widest)));
    }
  }
}

Value value_or_none(const std::optional<double>& number) {
  return number ? Value(*number) : Value();
}

// For programs: one line per answer, under the names that columns of a run's files have.
Table table_of(const std::vector<ExactLine>& lines, bool solves, ReachedBy what) {
  Table table{{"metric", "series", "scaling", "scaling_value", "d", "keys"}, {}};
  const std::vector<std::string> more = solves
                                            ? std::vector<std::string>{"factor", "level", "status"}
                                            : std::vector<std::string>{"exact"};
  table.columns.insert(table.columns.end(), more.begin(), more.end());
  for (const ExactLine& line : lines) {
    const Scaling& scaling = line.scaling;
    std::vector<Value>& row = table.rows.emplace_back();
    row = {std::string(line.metric.name), name_with_value(scaling.name, scaling.value),
           scaling.name, value_or_none(scaling.value)};
    const auto add_size = [&](std::int64_t size, ReachedBy by) {
      row.push_back(solves && what == by ? value_or_none(line.reach.at) : Value(size));
    };
    add_size(line.cell.draw.d, ReachedBy::kD);
    add_size(line.cell.draw.keys, ReachedBy::kKeys);
    if (!solves) {
      row.push_back(value_or_none(line.value));
      continue;
    }
    row.push_back(what == ReachedBy::kFactor ? value_or_none(line.reach.at) : Value());
    row.push_back(value_or_none(line.level));
    row.emplace_back(std::string(name_of(line.reach.status)));
  }
  return table;
}

// A cell of the screen: six digits of a value, five of what reaches a level.
std::string cell_of(const ExactLine& line, ReachedBy what) {
  if (!line.level) return line.value ? rounded_short(*line.value, 6) : "not known";
  std::string status(name_of(line.reach.status));
  std::ranges::replace(status, '_', ' ');
  if (!line.reach.at) return status;
  const double at = *line.reach.at;
  std::string text = what == ReachedBy::kKeys ? with_places(at, 0) : rounded_short(at, 5);
  if (what == ReachedBy::kFactor) {
    const double times_root = at * std::sqrt(static_cast<double>(line.cell.draw.d));
    text += fmt::format(" = {}/sqrt(d)", rounded_short(times_root, 5));
  }
  return line.reach.status == ReachStatus::kUpTo ? "up to " + text : text;
}

std::string caption_of(const MetricRow& metric, bool solves, ReachedBy what) {
  const std::string name = fmt::format("{} ({})", metric.title, metric.name);
  if (!solves) return name + ", exact";
  const char* found = what == ReachedBy::kD      ? "d"
                      : what == ReachedBy::kKeys ? "keys"
                                                 : "factor of q.k";
  return fmt::format("{} from which the {} is at least the level, exact", found, name);
}

// A table for each metric: sizes and levels run down, scalings across.
std::vector<ScreenTable> screens_of(const std::vector<ExactLine>& lines,
                                    const Experiment& experiment, bool solves, ReachedBy what) {
  std::vector<ScreenTable> screens;
  std::vector<std::string_view> unknown;
  for (const MetricRow* metric : experiment.metrics) {
    const auto is_known = [&](const ExactLine& line) {
      return &line.metric == metric &&
             (line.value || (solves && line.reach.status != ReachStatus::kNotKnown));
    };
    if (std::ranges::none_of(lines, is_known)) {
      unknown.push_back(metric->name);
      continue;
    }
    ScreenTable screen;
    screen.caption = caption_of(*metric, solves, what);
    if (solves) screen.header.emplace_back("level");
    if (!solves || what != ReachedBy::kD) screen.header.emplace_back("d");
    if (!solves || what != ReachedBy::kKeys) screen.header.emplace_back("keys");
    screen.label_columns = screen.header.size();
    for (const Scaling& scaling : experiment.scalings) {
      screen.header.push_back(name_with_value(scaling.name, scaling.value));
    }
    for (const ExactLine& line : lines) {
      if (&line.metric != metric) continue;
      if (&line.scaling == &experiment.scalings.front()) {
        std::vector<std::string>& row = screen.rows.emplace_back();
        if (solves) row.push_back(rounded_short(*line.level, 6));
        if (!solves || what != ReachedBy::kD) row.push_back(std::to_string(line.cell.draw.d));
        if (!solves || what != ReachedBy::kKeys) row.push_back(std::to_string(line.cell.draw.keys));
      }
      screen.rows.back().push_back(cell_of(line, what));
    }
    screens.push_back(std::move(screen));
  }
  if (screens.empty()) screens.emplace_back();
  if (!unknown.empty()) {
    screens.back().notes.push_back("no exact value is known of " + join(unknown));
  }
  return screens;
}

}  // namespace

Answer exact(const Arguments& arguments, std::size_t width) {
  const TableFormat format = format_of(arguments);
  const ExactCommand command = exact_command(arguments);
  const bool solves = !command.levels.empty();
  const ReachedBy what = missing_of(command);
  if (what == ReachedBy::kD && !solves) {
    throw UserError("attnscale exact: needs --d N, or --reach LEVEL to solve for d");
  }
  if (what == ReachedBy::kD && !is_asked(command, "keys")) {
    throw UserError(
        "attnscale exact: --reach needs --keys N to solve for d, --d N to solve for "
        "the keys, or both to solve for the factor of q.k");
  }
  const Plan plan = plan_of(command, what);
  if (solves) expect_possible(plan, command.levels, what);
  const std::vector<ExactLine> lines =
      solves ? reach_lines(plan, command.levels, what) : value_lines(plan);
  if (format == TableFormat::kCsv) return {to_csv(table_of(lines, solves, what))};
  if (format == TableFormat::kJson) return {to_json(table_of(lines, solves, what))};
  std::string text;
  for (const ScreenTable& screen :
       screens_of(lines, plan.config.experiments.front(), solves, what)) {
    const bool markdown = format == TableFormat::kMarkdown;
    if (screen.header.empty()) return {screen.notes.front() + "\n"};
    text += (text.empty() ? "" : "\n") + (markdown ? to_markdown(screen) : to_text(screen, width));
  }
  return {text};
}

}  // namespace attnscale
