#include "experiment/idle_scalings.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "experiment/given_scores.h"
#include "experiment/result_row.h"
#include "formula/program.h"

namespace attnscale {
namespace {

struct LargestSize {
  std::int64_t d;
  std::int64_t keys;
};

LargestSize largest_size(const Experiment& experiment) {
  if (experiment.given) {
    return {size_of(*experiment.given).value_or(1), all_keys(*experiment.given)};
  }
  return {std::ranges::max(experiment.d), std::ranges::max(experiment.keys)};
}

}  // namespace

std::vector<std::string> idle_scalings(const Config& config) {
  std::vector<std::string> sentences;
  for (const Experiment& experiment : config.experiments) {
    const auto [d, keys] = largest_size(experiment);
    if (keys < 2) continue;  // one logit alone has nothing to differ from, and ln(1) is 0
    for (const Scaling& scaling : experiment.scalings) {
      const FormulaProgram program(
          scaling.logit, {.d = static_cast<double>(d), .keys = static_cast<double>(keys)});
      const auto& linear = program.linear();
      if (!linear || linear->slope.at(static_cast<double>(d)) != 0) continue;
      sentences.push_back(
          fmt::format("{}: under the scaling {} no logit depends on its score: its factor is 0 at "
                      "d={} keys={}",
                      experiment.name, name_with_value(scaling.name, scaling.value), d, keys));
    }
  }
  return sentences;
}

}  // namespace attnscale
