// Scalings in a line: a formula with its numbers, or a preset with some.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiment/presets.h"
#include "formula/parse.h"

namespace attnscale {

/// The scaling of a formula that has no names of its own.
inline Scaling logit_scaling(std::string name, std::string_view logit,
                             const WeightRule& weights = {}) {
  return make_scaling(std::move(name), parse_formula(logit, FormulaKind::kLogit), {}, weights);
}

/// The preset with these numbers for its first parameters, and what others are by default.
inline Scaling preset(std::string_view name, std::vector<double> numbers = {}) {
  const PresetRow& row = *find_preset(name);
  const auto parameters = row.parameters();
  for (std::size_t i = numbers.size(); i < parameters.size(); ++i) {
    numbers.push_back(std::stod(std::string(parameters[i].fallback)));
  }
  return scaling_of(row, numbers);
}

/// The same with another way to make weights.
inline Scaling preset(std::string_view name, const WeightRule& weights) {
  Scaling scaling = preset(name);
  scaling.weights = weights;
  return scaling;
}

/// What a score is multiplied by where the logit is a multiple of it.
inline double factor_of(const Scaling& scaling, double d, double keys = 8) {
  return FormulaProgram(scaling.logit, {d, keys, keys - 1}).factor().value();
}

}  // namespace attnscale
