#include "experiment/scaling.h"

#include <algorithm>

#include "formula/print.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

constexpr std::size_t kMostNodes = 10'000;

std::size_t nodes_with(const Formula& formula, const FormulaValues& numbers) {
  std::size_t nodes = formula.nodes().size();
  for (const FormulaNode& node : formula.nodes()) {
    const auto number = std::ranges::find(numbers, node.name, &FormulaValues::value_type::first);
    if (number != numbers.end()) nodes += number->second.nodes().size();
  }
  return nodes;
}

// Which steps are narrower than float64: "; product, logit, exponential, weight in float16; sum in
// float32".
std::string precision_text(const WeightRule& rule) {
  const PrecisionSteps& steps = rule.precision;
  // A sigmoid sums nothing.
  const bool has_sum = rule.normaliser.kind != NormaliserKind::kSigmoid;
  const std::array<std::pair<std::string_view, Precision>, 5> named{
      {{"product", steps.product},
       {"logit", steps.logit},
       {"exponential", steps.exponential},
       {"weight", steps.weight},
       {"sum", has_sum ? steps.sum : Precision::kFloat64}}};
  std::string text;
  for (std::size_t format = kPrecisionNames.size() - 1; format > 0; --format) {
    std::string names;
    for (const auto& [name, precision] : named) {
      if (precision != static_cast<Precision>(format)) continue;
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    if (!names.empty()) text += "; " + names + " in " + std::string(kPrecisionNames[format]);
  }
  if (steps.sum_order == SumOrder::kPairwise) text += "; summed pairwise";
  if (steps.sum_order == SumOrder::kTiles) {
    text += "; summed in tiles of " + std::to_string(steps.tile_keys) + " keys";
  }
  return text;
}

std::string weights_text(const WeightRule& rule) {
  std::string text;
  if (rule.normaliser.kind == NormaliserKind::kSink) {
    text += "; softmax with a sink of logit " + shortest(rule.normaliser.bias);
  }
  if (rule.normaliser.kind == NormaliserKind::kSigmoid) {
    const double bias = rule.normaliser.bias;
    text += "; weight = sigmoid(logit";
    if (bias != 0) text += (bias > 0 ? " + " : " - ") + shortest(bias > 0 ? bias : -bias);
    text += ")";
  }
  if (rule.precision.is_exact()) return text;
  text += precision_text(rule);
  return rule.max_shift == MaxShift::kNone ? text + "; largest logit not subtracted" : text;
}

}  // namespace

Scaling make_scaling(std::string name, const Formula& written, FormulaValues numbers,
                     const WeightRule& weights, std::optional<double> value) {
  Scaling scaling{std::move(name), value, written, weights, "", written, std::move(numbers)};
  // A name that stands for a formula brings other names, at most as often as there are names.
  for (std::size_t i = 0; i < scaling.numbers.size(); ++i) {
    if (nodes_with(scaling.logit, scaling.numbers) > kMostNodes) break;
    scaling.logit = with_values(scaling.logit, scaling.numbers);
  }
  return scaling;
}

std::string formula(const Scaling& scaling) {
  return print_formula(scaling.logit) + weights_text(scaling.weights);
}

}  // namespace attnscale
