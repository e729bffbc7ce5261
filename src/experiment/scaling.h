// The rule that turns a score into a logit. One row of the table is one named scaling; the config,
// the schema, `attnscale list scalings`, the plan and the table-wide tests all read that table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace attnscale {

/// logit = multiplier * d^d_power * score.
struct Scaling {
  std::string name;             ///< what the column `scaling` shows
  std::optional<double> value;  ///< the number of a sweep, for the column `scaling_value`
  double multiplier = 1;
  double d_power = 0;

  friend bool operator==(const Scaling&, const Scaling&) = default;
};

struct ScalingRow {
  std::string_view name;
  std::string_view help;  ///< one line, with the source
  double multiplier;
  double d_power;
};

std::span<const ScalingRow> scaling_table();

/// The scaling of that name, or nothing.
std::optional<Scaling> find_scaling(std::string_view name);

/// What a score is multiplied by at head size d >= 1. The power -1 is correctly rounded; -1/2 is
/// the quotient of 1 and the rounded root, as it is usually computed, within a unit in the last
/// place.
double multiplier_at(const Scaling& scaling, std::int64_t d);

/// True where the logit depends on d, so that given scores need one.
bool needs_d(const Scaling& scaling);

/// The formula in full, such as "q.k / sqrt(d)".
std::string formula(const Scaling& scaling);

/// Logits of `scores`; both spans have one length and may be the same memory.
void apply_scaling(const Scaling& scaling, std::int64_t d, std::span<const double> scores,
                   std::span<double> logits);

}  // namespace attnscale
