#include "app/audit.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "report/number_text.h"
#include "report/screen_table.h"

namespace attnscale {
namespace {

// Ratios this near to 1 count as an explanation: a spread from a few hundred scores is not known
// better, and the hypotheses are further apart.
constexpr double kNear = 1.05;

using Size = std::optional<std::int64_t>;

struct Hypothesis {
  std::string_view name;
  std::string_view formula;
  Size AuditCommand::*needs;  // the size that it depends on; nullptr if none
  // What q.k is multiplied by. `size` is that of `needs`, else d.
  double (*multiplier)(double d, double size);
};

// The right scaling first. Sources: the issue threads of public models and kernels.
constexpr std::array kHypotheses{
    Hypothesis{"scaled once, as it should be", "q.k / sqrt(d)", nullptr,
               [](double d, double) { return 1 / std::sqrt(d); }},
    Hypothesis{"never scaled", "q.k", nullptr, [](double, double) { return 1.0; }},
    Hypothesis{"scaled twice, by the caller and by the kernel", "q.k / sqrt(d) / sqrt(d)", nullptr,
               [](double d, double) { return 1 / d; }},
    Hypothesis{"divided by d, as muP does on purpose", "q.k / d", nullptr,
               [](double d, double) { return 1 / d; }},
    Hypothesis{"root taken twice, or d^-1/4 on one side only", "q.k / sqrt(sqrt(d))", nullptr,
               [](double d, double) { return 1 / std::sqrt(std::sqrt(d)); }},
    Hypothesis{"multiplied instead of divided", "q.k * sqrt(d)", nullptr,
               [](double d, double) { return std::sqrt(d); }},
    Hypothesis{"root of the model's width", "q.k / sqrt(d_model)", &AuditCommand::d_model,
               [](double, double width) { return 1 / std::sqrt(width); }},
    Hypothesis{"divided by the model's width", "q.k / d_model", &AuditCommand::d_model,
               [](double, double width) { return 1 / width; }},
    Hypothesis{"root of the number of heads", "q.k / sqrt(heads)", &AuditCommand::heads,
               [](double, double heads) { return 1 / std::sqrt(heads); }},
    Hypothesis{"root of the padded head size", "q.k / sqrt(padded_d)", &AuditCommand::padded_d,
               [](double, double padded) { return 1 / std::sqrt(padded); }},
    Hypothesis{"root of the values' head size", "q.k / sqrt(value_d)", &AuditCommand::value_d,
               [](double, double values) { return 1 / std::sqrt(values); }},
    Hypothesis{"divided by the layer too, seen in the last", "q.k / sqrt(d) / layers",
               &AuditCommand::layers,
               [](double d, double layers) { return 1 / (std::sqrt(d) * layers); }},
};

double distance(const Explanation& one) {
  return std::abs(std::log(one.ratio.value_or(1)));
}

std::string short_number(double number) {
  return rounded_short(number, 4);
}

std::string which_d(const AuditCommand& command) {
  std::string text = fmt::format("Which d? The head size {}", command.d);
  if (command.d_model && command.heads) {
    text += fmt::format(" ({} over {} heads)", *command.d_model, *command.heads);
  }
  if (command.d_model && *command.d_model != command.d) {
    text += fmt::format(", not the model's width {}", *command.d_model);
  }
  return text + fmt::format(": divide q.k by sqrt({}) = {}.\n", command.d,
                            short_number(std::sqrt(static_cast<double>(command.d))));
}

// What the ranked explanations say about the measured spread.
std::string verdict(const AuditCommand& command, const std::vector<Explanation>& ranked) {
  const std::string measured = short_number(*command.measured_sd);
  const auto explains = [](const Explanation& one) { return distance(one) <= std::log(kNear); };
  if (!explains(ranked.front())) {
    return fmt::format(
        "None of these leaves a spread within 5 % of {0}. If the scores are scaled by 1/sqrt(d), "
        "the spreads of a query's and a key's entry multiply to {0} instead of 1.\n",
        measured);
  }
  std::string text;
  for (const Explanation& one : ranked) {
    if (!explains(one)) break;
    text += text.empty() ? "A measured spread of " + measured + " fits: " : "; or: ";
    text += one.name + " (" + one.formula + ")";
  }
  text += ".\n";
  if (std::count_if(ranked.begin(), ranked.end(), explains) > 1) {
    text += "Their spreads are too close to distinguish by one measurement.\n";
  }
  return text;
}

}  // namespace

std::vector<Explanation> explanations(const AuditCommand& command) {
  const auto d = static_cast<double>(command.d);
  std::vector<Explanation> all;
  for (const Hypothesis& row : kHypotheses) {
    if (row.needs != nullptr && !(command.*row.needs)) continue;
    const double size = row.needs != nullptr ? static_cast<double>(*(command.*row.needs)) : d;
    Explanation one{std::string(row.name), std::string(row.formula),
                    row.multiplier(d, size) * std::sqrt(d), std::nullopt};
    if (command.measured_sd) one.ratio = *command.measured_sd / one.spread;
    all.push_back(std::move(one));
  }
  if (command.measured_sd) {
    std::ranges::stable_sort(all, {}, distance);
  }
  return all;
}

std::string audit_text(const AuditCommand& command, std::size_t width) {
  const std::vector<Explanation> ranked = explanations(command);
  ScreenTable screen;
  screen.header = {"what was done", "logit", "spread"};
  if (command.measured_sd) screen.header.emplace_back("measured / spread");
  for (const Explanation& one : ranked) {
    screen.rows.push_back({one.name, one.formula, short_number(one.spread)});
    if (one.ratio) screen.rows.back().push_back(short_number(*one.ratio));
  }
  std::string text = fmt::format(
      "{}\nSpread of the logits at d = {}, entries of queries and keys with mean 0 and spread "
      "1{}\n{}",
      which_d(command), command.d, command.measured_sd ? "; the best explanation first" : "",
      to_text(screen, width));
  if (command.measured_sd) text.append("\n").append(verdict(command, ranked));
  return text;
}

}  // namespace attnscale
