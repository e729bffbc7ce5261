// The scalings that have a name: the lesson's three and presets of models and papers, each with its
// formula and its source. One row of the table is one scaling; the config, the schema, `attnscale
// list scalings`, the plan and the table-wide tests all read that table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "experiment/scaling.h"

namespace attnscale {

/// One number of a preset, such as the position of a token.
struct PresetParameter {
  std::string_view name = {};
  double least = 0;
  double most = 0;
  std::string_view help =
      {};  ///< one line, for `list scalings`, the schema and refusals of a value
  std::string_view fallback = {};  ///< without one it must be given

  bool is_required() const { return fallback.empty(); }
};

struct PresetRow {
  std::string_view name;
  std::string_view help;     ///< one line
  std::string_view source;   ///< paper, configuration or code; for the lesson's own the paper
  std::string_view formula;  ///< with the parameters' names
  std::array<PresetParameter, 5> all_parameters = {};
  NormaliserKind normaliser = NormaliserKind::kSoftmax;
  std::string_view bias = {};  ///< the parameter or number that the normaliser takes
  std::int64_t made_for = 0;   ///< head size that a number in the formula belongs to, if one does

  std::span<const PresetParameter> parameters() const;
};

std::span<const PresetRow> preset_table();

/// Rows that the lesson compares; no other scaling can have their names.
inline constexpr std::array<std::string_view, 3> kLessonScalings{"none", "div_sqrt_d", "div_d"};

/// The row of that name, or nullptr.
const PresetRow* find_preset(std::string_view name);

/// The formula of a row, with the names of its parameters, and what follows it.
std::string formula(const PresetRow& row);

/// The scaling of a row with these numbers for its parameters, in their order.
Scaling scaling_of(const PresetRow& row, std::span<const double> numbers);

/// The scaling of that name if its row needs no number, or nothing.
std::optional<Scaling> find_scaling(std::string_view name);

/// What is known under a name but is no scaling of scores.
struct RefusedScaling {
  std::string_view name;
  std::string_view reason;  ///< and what to write instead
};

/// The refusal of that name, or nullptr.
const RefusedScaling* find_refused_scaling(std::string_view name);

}  // namespace attnscale
