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
  text += steps_text(rule.precision, rule.normaliser.kind);
  return rule.max_shift == MaxShift::kNone ? text + "; largest logit not subtracted" : text;
}

// The part that ends at a place.
Formula with_bare_queries(const Formula& logit, std::size_t place) {
  const Operation operation = logit[place].operation;
  if (operation == Operation::kDot) {
    return {operation, Formula({Operation::kQuery}), logit.part(logit.second(place))};
  }
  if (logit.operands(place) == 0) return logit.part(place);
  Formula first = with_bare_queries(logit, logit.first(place));
  if (logit.operands(place) == 1) return {operation, std::move(first)};
  return {operation, std::move(first), with_bare_queries(logit, logit.second(place))};
}

}  // namespace

std::string steps_text(const PrecisionSteps& steps, NormaliserKind normaliser) {
  // A sigmoid sums nothing.
  const bool has_sum = normaliser != NormaliserKind::kSigmoid;
  const std::array<std::pair<std::string_view, Precision>, 10> named{
      {{"entries", steps.entries},
       {"scaled_queries", steps.scaled_queries},
       {"quantised", steps.quantised},
       {"product_sum", steps.product_sum},
       {"product", steps.product},
       {"logit", steps.logit},
       {"exponential", steps.exponential},
       {"weight", steps.weight},
       {"output", steps.output},
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

std::optional<BareQueries> bare_queries(const Formula& logit, const FormulaSize& size) {
  const LinearParts parts = linear_parts(logit, constants_of(logit, size), size.d);
  std::optional<double> factor;
  for (std::size_t place = 0; place < parts.size(); ++place) {
    if (logit[place].operation != Operation::kDot) continue;
    const auto& on_query = parts[logit.first(place)];
    if (!on_query || factor.value_or(on_query->slope.at(size.d)) != on_query->slope.at(size.d)) {
      return std::nullopt;
    }
    factor = on_query->slope.at(size.d);
  }
  if (has_norm(logit) || !factor) return std::nullopt;
  return BareQueries{with_bare_queries(logit, logit.root()), *factor};
}

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
