// The rule that turns scores into logits, and what then turns logits into weights: a formula with
// its numbers put in. Which formulas have a name, and where each comes from, is in presets. Knows
// nothing of config or samplers.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "formula/program.h"
#include "numerics/query_weights.h"

namespace attnscale {

/// What a config calls them, in the order of their enums.
/// The last two are formats of whole vectors.
inline constexpr std::array<std::string_view, 11> kPrecisionNames{"float64",
                                                                  "float32",
                                                                  "tfloat32",
                                                                  "bfloat16",
                                                                  "float16",
                                                                  "float8_e4m3fn",
                                                                  "float8_e5m2",
                                                                  "float8_e4m3fn_saturated",
                                                                  "float8_e5m2_saturated",
                                                                  "int8_row",
                                                                  "int8_tensor"};
/// The last has a number of keys.
inline constexpr std::array<std::string_view, 3> kSumOrderNames{"sequential", "pairwise", "tiles"};
inline constexpr std::array<std::string_view, 3> kNormaliserNames{"softmax", "sink", "sigmoid"};

static_assert(kPrecisionNames.size() == 1 + static_cast<std::size_t>(Precision::kInt8Tensor));
static_assert(kSumOrderNames.size() == 1 + static_cast<std::size_t>(SumOrder::kTiles));
static_assert(kNormaliserNames.size() == 1 + static_cast<std::size_t>(NormaliserKind::kSigmoid));

/// The name of a value of an enum in its list.
template <typename Enum, std::size_t size>
constexpr std::string_view name_in(const std::array<std::string_view, size>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

/// A scaling of an experiment: its rule, and how the config came to it. By default the score
/// itself.
struct Scaling {
  std::string name;             ///< what the column `scaling` shows
  std::optional<double> value;  ///< the number of a sweep, for the column `scaling_value`
  Formula logit{Operation::kDot, Formula({Operation::kQuery}),
                Formula({Operation::kKey})};  ///< with all numbers put in
  WeightRule weights = {};
  std::string preset = {};     ///< the row whose formula it is, or empty
  Formula written = logit;     ///< the same with names where numbers go
  FormulaValues numbers = {};  ///< what stands for these names

  friend bool operator==(const Scaling&, const Scaling&) = default;
};

/// The scaling of a formula with names, for each of which there is a value that may hold other
/// names. Names that stand for one another in a circle, or for more than 10,000 nodes, are left.
Scaling make_scaling(std::string name, const Formula& written, FormulaValues numbers = {},
                     const WeightRule& weights = {}, std::optional<double> value = std::nullopt);

/// Which steps are narrower than float64: "; product, logit, exponential, weight in float16; sum in
/// float32", and how they are summed.
std::string steps_text(const PrecisionSteps& steps, NormaliserKind normaliser);

/// The formula with bare queries in its products, to which what stood on them is a number.
struct BareQueries {
  Formula logit;
  double factor;
};

/// Nothing where the factor on q differs from product to product or key to key, or is a norm.
std::optional<BareQueries> bare_queries(const Formula& logit, const FormulaSize& size);

/// The formula of the logit, such as "50 tanh(q.k / sqrt(144) / 50)", followed by what differs from
/// a softmax in float64.
std::string formula(const Scaling& scaling);

}  // namespace attnscale
