#include "app/check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "estimate/estimate.h"
#include "estimate/interval.h"
#include "experiment/metric.h"
#include "experiment/metric_range.h"
#include "experiment/presets.h"
#include "io/table.h"
#include "numerics/shortest.h"
#include "report/number_text.h"

namespace attnscale {
namespace {

// A mean over queries, or a statistic of their logits, as it was printed.
struct PrintedNumber {
  const MetricRow* metric;
  double value;
  double rounding;  // half a unit of its last digit: 0.0005 of 0.755
};

struct CheckCommand {
  std::int64_t d = 1;
  std::int64_t keys = 1;
  std::int64_t queries = 1;  // that the numbers are from, each with keys of its own
  Scaling scaling;
  double saturated_above = 0;
  std::vector<PrintedNumber> printed;
};

constexpr double kMostErrors = 4;  // one right number in 15,787 is further off

bool has_exact_value(const MetricRow& metric) {
  if (metric.kind != MetricKind::kPerQuery) return true;
  return metric.exact_mean.has_value() || metric.exact_fraction != nullptr;
}

std::string option_of(const MetricRow& metric) {
  std::string name(metric.name);
  std::ranges::replace(name, '_', '-');
  return name;
}

// Half a unit of the last digit of a number that is written so.
double rounding_of(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of("eE"), text.size());
  const std::size_t point = std::min(text.find('.'), end);
  std::string unit = "5e-1";
  if (point < end) unit = fmt::format("5e-{}", end - point);
  const double half = parse_number<double>(unit).value_or(0);
  const auto power = parse_number<double>(fmt::format("1{}", text.substr(end)));
  return half * power.value_or(1);
}

// What of a metric is compared, and how far it is off.
struct CheckedNumber {
  PrintedNumber printed;
  double exact = 0;
  std::optional<double> std_error = {};
  std::string status = {};

  double off() const { return printed.value - exact; }
  std::optional<double> z() const {
    return std_error ? std::optional(off() / *std_error) : std::nullopt;
  }
};

// The experiment that would measure the numbers, with a sampler that can draw it.
Experiment experiment_of(const CheckCommand& command) {
  constexpr double kMostDrawn = 0x1p26;   // scores, or entries where the sampler draws them
  constexpr double kMostChecked = 32768;  // queries
  Experiment experiment;
  experiment.name = "check";
  const NormRequest norms = norms_for(command.scaling);
  experiment.sampler = find_sampler(norms == NormRequest::kSums ? "vectors" : "direct");
  Law normal;
  normal.row = find_law("normal");
  experiment.entries = {{.name = "normal", .value = {}, .queries = normal, .keys = normal}};
  experiment.d = {command.d};
  experiment.keys = {command.keys};
  experiment.scalings = {command.scaling};
  for (const PrintedNumber& number : command.printed) experiment.metrics.push_back(number.metric);
  experiment.saturated_above = command.saturated_above;
  const double work = experiment.sampler->draws_entries ? static_cast<double>(command.d) : 1;
  const double drawn = kMostDrawn / work / static_cast<double>(command.keys);
  experiment.queries = static_cast<std::int64_t>(std::clamp(drawn, 64.0, kMostChecked));
  return experiment;
}

CellTally measure(const Plan& plan) {
  const Cell& cell = plan.cells.front();
  BlockMeasurer measurer(plan.experiment_of(cell), cell, plan.config.seed);
  CellTally tally;
  for (std::int64_t block = 0; block < cell.blocks; ++block) {
    const BlockValues& values = *measurer.measure(block);
    tally.moments = block == 0 ? moments_of(values) : merge(tally.moments, moments_of(values));
    tally.counts.add(values);
  }
  return tally;
}

// `row` is what the drawn queries gave; `queries` is how many the printed number is from.
void judge(const ResultRow& row, std::int64_t queries, CheckedNumber& number) {
  const MetricRow& metric = *number.printed.metric;
  const double ratio = static_cast<double>(queries) / static_cast<double>(row.queries);
  if (metric.is_fraction) {
    const double error =
        std::sqrt(number.exact * (1 - number.exact) / static_cast<double>(queries));
    if (error > 0) number.std_error = error;
  } else if (row.std_error) {
    number.std_error = *row.std_error / std::sqrt(ratio);
  }
  const double allowance = kExactError * std::max(1.0, std::abs(number.exact));
  const double off = std::abs(number.off()) - allowance;
  const double allowed = kMostErrors * number.std_error.value_or(0);
  if (off <= allowed) {
    number.status = "agrees";
  } else if (off <= allowed + number.printed.rounding) {
    number.status = "rounded";
  } else {
    const bool is_rare =
        row.status == LineStatus::kRare || !has_interval(metric, queries, *row.carrying * ratio);
    number.status = is_rare ? "rare" : "differs";
  }
}

std::vector<CheckedNumber> checked_numbers(const CheckCommand& command) {
  Config config;
  config.name = "check";
  config.experiments = {experiment_of(command)};
  const Plan plan = make_plan(config);
  const Cell& cell = plan.cells.front();
  ExactValues exact(ReferenceMode::kAuto);
  const auto values = exact.of(plan.experiment_of(cell), cell, command.scaling);
  std::vector<CheckedNumber> numbers;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const PrintedNumber& printed = command.printed[i];
    if (!values[i]) {
      throw UserError(fmt::format(
          "attnscale check: --{}: no exact value is known at d = {} and keys = {} under {}; leave "
          "it "
          "out, or compare with a run: attnscale run",
          option_of(*printed.metric), command.d, command.keys, formula(command.scaling)));
    }
    numbers.push_back({printed, *values[i]});
  }
  const std::vector<ResultRow> rows = estimate_cell(plan, cell, measure(plan), exact);
  for (std::size_t i = 0; i < rows.size(); ++i) judge(rows[i], command.queries, numbers[i]);
  return numbers;
}

Table table_of(const CheckCommand& command, const std::vector<CheckedNumber>& numbers) {
  Table table{
      {"metric", "scaling", "d", "keys", "queries", "printed", "exact", "std_error", "z", "status"},
      {}};
  const auto value = [](const auto& number) { return number ? Value(*number) : Value(); };
  for (const CheckedNumber& number : numbers) {
    table.rows.push_back({std::string(number.printed.metric->name), command.scaling.name, command.d,
                          command.keys, command.queries, number.printed.value, number.exact,
                          value(number.std_error), value(number.z()), number.status});
  }
  return table;
}

bool any_differs(const std::vector<CheckedNumber>& numbers) {
  return std::ranges::find(numbers, "differs", &CheckedNumber::status) != numbers.end();
}

// One of the lesson's scalings under which nothing differs: " All agree under div_sqrt_d."
std::string other_scaling(const CheckCommand& command) {
  for (const std::string_view name : kLessonScalings) {
    CheckCommand other = command;
    other.scaling = *find_scaling(name);
    if (other.scaling == command.scaling || any_differs(checked_numbers(other))) continue;
    return fmt::format(" Under {} {}.", name,
                       command.printed.size() > 1 ? "all agree" : "it agrees");
  }
  return "";
}

std::string headline_of(const CheckCommand& command, const std::vector<CheckedNumber>& numbers) {
  std::string wrong;
  for (const CheckedNumber& number : numbers) {
    if (number.status != "differs") continue;
    wrong +=
        fmt::format("{}{} is {}, not {}", wrong.empty() ? "" : "; ", number.printed.metric->name,
                    rounded_short(number.exact, 5), shortest(number.printed.value));
    const auto z = number.z();
    if (z) wrong += fmt::format(" ({} standard errors off)", rounded_short(std::abs(*z), 3));
  }
  if (!wrong.empty()) return fmt::format("Differs: {}.{}\n", wrong, other_scaling(command));
  return numbers.size() == 1 ? "It agrees.\n" : "All agree.\n";
}

std::string screen_of(const CheckCommand& command, const std::vector<CheckedNumber>& numbers,
                      std::size_t width) {
  ScreenTable screen;
  screen.caption =
      fmt::format("d = {}, {} {}, {} queries, each with keys of its own: {} = {}", command.d,
                  grouped(command.keys), command.keys == 1 ? "key" : "keys",
                  grouped(command.queries), command.scaling.name, formula(command.scaling));
  screen.header = {"metric", "printed", "exact", "standard error", "z", ""};
  const auto text = [](const std::optional<double>& number, int digits) {
    return number ? rounded(*number, digits) : "-";
  };
  for (const CheckedNumber& number : numbers) {
    screen.rows.push_back({std::string(number.printed.metric->name), shortest(number.printed.value),
                           rounded_short(number.exact, 6), text(number.std_error, 2),
                           text(number.z(), 2), number.status});
  }
  const auto note = [&](std::string_view status, std::string_view means) {
    if (std::ranges::find(numbers, status, &CheckedNumber::status) == numbers.end()) return;
    screen.notes.push_back(fmt::format("{}: {}", status, means));
  };
  note("rounded", "agrees, but for what its last digit leaves open");
  note("rare", "too few of these queries carry that number to judge it");
  return headline_of(command, numbers) + "\n" + to_text(screen, width);
}

CheckCommand check_command(const Arguments& arguments) {
  arguments.no_words();
  const SamplerRow& sampler = *find_sampler("direct");
  const auto needed = [&](const std::string& name, std::int64_t most) {
    const auto number = arguments.whole_number(name, 1, most);
    if (!number) {
      arguments.refuse(fmt::format(
          "needs --{} N; for example attnscale check --d 16 --keys 8 --queries 4000 --top-weight "
          "0.755",
          name));
    }
    return *number;
  };
  CheckCommand command;
  command.d = needed("d", sampler.max_d);
  command.keys = needed("keys", sampler.max_keys);
  command.queries = needed("queries", std::int64_t{1} << 53);
  command.scaling =
      scaling_like("attnscale check: --scaling", arguments.text("scaling").value_or("none"));
  command.saturated_above = arguments
                                .number("saturated-above", "a number above 0 and below 1",
                                        [](double number) { return number > 0 && number < 1; })
                                .value_or(0.99);
  for (const MetricRow& metric : metric_table()) {
    const std::string option = option_of(metric);
    const MetricRange range = metric_range(metric, command.keys, command.scaling.weights);
    const auto number = arguments.number(
        option, range_text(range), [&](double printed) { return is_possible(printed, range); });
    if (number) command.printed.push_back({&metric, *number, rounding_of(*arguments.text(option))});
  }
  if (command.printed.empty()) {
    arguments.refuse("needs a number that was printed, such as --top-weight 0.755");
  }
  return command;
}

}  // namespace

std::span<const OptionRow> check_options() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const MetricRow& metric : metric_table()) all.push_back(option_of(metric));
    return all;
  }();
  // A row takes a line or two.
  // clang-format off
  static const std::vector<OptionRow> options = [] {
    std::vector<OptionRow> all{
        {"d", "N", "head size"},
        {"keys", "N", "number of keys of each query"},
        {"queries", "N", "how many queries the numbers are from; each has keys of its own"},
        {"scaling", "PRESET|FORMULA", "what q.k becomes before the softmax (default none)"},
        {"saturated-above", "X", "threshold of saturated (default 0.99)"},
        {"format", "FORMAT", "table, csv or json (default table)", false, "table csv json"}, kHelp};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const MetricRow& metric = metric_table()[i];
      if (has_exact_value(metric)) all.push_back({names[i], "X", metric.help});
    }
    return all;
  }();
  // clang-format on
  return options;
}

Answer check(const Arguments& arguments, std::size_t width) {
  const TableFormat format = format_of(arguments);
  const CheckCommand command = check_command(arguments);
  const std::vector<CheckedNumber> numbers = checked_numbers(command);
  const ExitCode code = any_differs(numbers) ? ExitCode::kMismatch : ExitCode::kDone;
  if (format == TableFormat::kCsv) return {to_csv(table_of(command, numbers)), code};
  if (format == TableFormat::kJson) return {to_json(table_of(command, numbers)), code};
  return {screen_of(command, numbers, width), code};
}

}  // namespace attnscale
