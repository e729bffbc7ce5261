#include "experiment/scaling.h"

#include <array>
#include <charconv>
#include <cmath>

namespace attnscale {
namespace {

constexpr std::array kScalings{
    ScalingRow{"none", "the raw score", 1, 0},
    ScalingRow{"div_sqrt_d", "the transformer's rule (Vaswani et al. 2017, 3.2.1)", 1, -0.5},
    ScalingRow{"div_d", "as in muP (Yang et al. 2022); a common slip elsewhere", 1, -1},
};

std::string shortest(double number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

double power_of_d(double d, double power) {
  if (power == 0) return 1;
  if (power == -0.5) return 1 / std::sqrt(d);
  if (power == -1) return 1 / d;
  // In long double: x86's own instructions, which no vector extension of the machine changes.
  return static_cast<double>(
      std::pow(static_cast<long double>(d), static_cast<long double>(power)));
}

}  // namespace

std::span<const ScalingRow> scaling_table() {
  return kScalings;
}

std::optional<Scaling> find_scaling(std::string_view name) {
  for (const ScalingRow& row : kScalings) {
    if (row.name == name) return Scaling{std::string(name), {}, row.multiplier, row.d_power};
  }
  return std::nullopt;
}

double multiplier_at(const Scaling& scaling, std::int64_t d) {
  return scaling.multiplier * power_of_d(static_cast<double>(d), scaling.d_power);
}

bool needs_d(const Scaling& scaling) {
  return scaling.d_power != 0;
}

std::string formula(const Scaling& scaling) {
  std::string text = scaling.multiplier == 1 ? "q.k" : shortest(scaling.multiplier) + " q.k";
  if (scaling.d_power == -0.5) return text + " / sqrt(d)";
  if (scaling.d_power == -1) return text + " / d";
  if (scaling.d_power != 0) text += " * d^" + shortest(scaling.d_power);
  return text;
}

void apply_scaling(const Scaling& scaling, std::int64_t d, std::span<const double> scores,
                   std::span<double> logits) {
  const double multiplier = multiplier_at(scaling, d);
  for (std::size_t i = 0; i < scores.size(); ++i) logits[i] = multiplier * scores[i];
}

}  // namespace attnscale
