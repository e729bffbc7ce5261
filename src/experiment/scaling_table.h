// The scalings that have a name: the lesson's three and presets of models and papers, each with its
// source. One row of the table is one scaling; the config, the schema, `attnscale list scalings`,
// the plan and the table-wide tests all read that table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "experiment/scaling.h"

namespace attnscale {

/// One number that a preset needs, such as the position of a token.
struct ScalingParameter {
  std::string_view name;
  double least;
  double most;
  std::string_view help;  ///< one line, for `list scalings`, the schema and refusals of a value
};

struct ScalingRow {
  std::string_view name;
  std::string_view help;    ///< one line
  std::string_view source;  ///< paper, configuration or code; for the lesson's own the paper
  ScalingRule (*make)(std::span<const double> parameters);
  std::span<const ScalingParameter> parameters = {};  ///< all required, in make's order
  std::string_view formula = {};  ///< with the parameters' names, if there are any
};

std::span<const ScalingRow> scaling_table();

/// The formula of a row, with the names of the numbers it needs.
std::string formula(const ScalingRow& row);

/// The row of that name, or nullptr.
const ScalingRow* find_scaling_row(std::string_view name);

/// The scaling of that name if its row needs no number, or nothing.
std::optional<Scaling> find_scaling(std::string_view name);

/// The scaling that `changes` make of the row (of the score itself if it is nullptr).
Scaling make_scaling(std::string name, const ScalingRow* like, std::vector<double> parameters,
                     const ScalingChanges& changes, std::optional<double> value = std::nullopt);

/// What is known under a name but is no scaling of scores.
struct RefusedScaling {
  std::string_view name;
  std::string_view reason;  ///< and what to write instead
};

/// The refusal of that name, or nullptr.
const RefusedScaling* find_refused_scaling(std::string_view name);

}  // namespace attnscale
