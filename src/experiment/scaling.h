// The rule that turns scores into logits, and what then turns logits into weights. Plain numbers:
// which rules have a name, and where each comes from, is in scaling_table. Knows nothing of config
// or samplers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "numerics/query_weights.h"

namespace attnscale {

struct ScalingRow;

/// What acts on every query and key before their product.
enum class Norm {
  kNone,
  kRms,     ///< divided by the root of its mean square: q.k becomes d cos(q, k)
  kCosine,  ///< divided by its length: q.k becomes cos(q, k)
};

/// Whether queries are multiplied before the product or scores after it. Only an emulated precision
/// tells them apart: after, the score itself must be a number of that precision.
enum class ScaleOrder { kAfter, kBefore };

/// What a config calls them, in the order of their enums.
inline constexpr std::array<std::string_view, 3> kNormNames{"none", "rms", "cosine"};
inline constexpr std::array<std::string_view, 2> kScaleOrderNames{"after", "before"};
inline constexpr std::array<std::string_view, 4> kPrecisionNames{"float64", "float32", "bfloat16",
                                                                 "float16"};
inline constexpr std::array<std::string_view, 3> kNormaliserNames{"softmax", "sink", "sigmoid"};

static_assert(kNormNames.size() == 1 + static_cast<std::size_t>(Norm::kCosine));
static_assert(kScaleOrderNames.size() == 1 + static_cast<std::size_t>(ScaleOrder::kBefore));
static_assert(kPrecisionNames.size() == 1 + static_cast<std::size_t>(Precision::kFloat16));
static_assert(kNormaliserNames.size() == 1 + static_cast<std::size_t>(NormaliserKind::kSigmoid));

/// The name of a value of an enum in its list.
template <typename Enum, std::size_t size>
constexpr std::string_view name_in(const std::array<std::string_view, size>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

/// logit = bend(multiplier query_gain key_gain d^d_power log(keys) score), where score is the
/// product of query and key after their norm, d is the cell's head size unless the rule has one,
/// the factor log(keys) is there only with log_keys, and bend(x) = softcap tanh(x / softcap).
struct ScalingRule {
  double multiplier = 1;
  double d_power = 0;
  std::optional<double> d = std::nullopt;  ///< in place of the cell's head size
  bool log_keys = false;
  std::optional<double> log_keys_base = std::nullopt;  ///< of that logarithm; e if empty
  std::optional<double> softcap = std::nullopt;        ///< above 0
  Norm norm = Norm::kNone;
  double query_gain = 1;
  double key_gain = 1;
  ScaleOrder scale_order = ScaleOrder::kAfter;
  WeightRule weights = {};

  friend bool operator==(const ScalingRule&, const ScalingRule&) = default;
};

/// What a config changes in the scaling it starts from: the factors multiply, powers add, anything
/// else takes the place of what was there.
struct ScalingChanges {
  std::optional<double> multiplier = std::nullopt;
  std::optional<double> d_power = std::nullopt;
  std::optional<double> d = std::nullopt;
  std::optional<double> log_keys_base = std::nullopt;
  std::optional<double> softcap = std::nullopt;
  std::optional<double> gain = std::nullopt;  ///< of queries, and of keys without one of their own
  std::optional<double> key_gain = std::nullopt;  ///< only with `gain`
  std::optional<NormaliserKind> normaliser = std::nullopt;
  std::optional<double> bias =
      std::nullopt;  ///< of the normaliser; only with one that is not softmax
  std::optional<bool> log_keys = std::nullopt;
  std::optional<Norm> norm = std::nullopt;
  std::optional<Precision> precision = std::nullopt;
  std::optional<ScaleOrder> scale_order = std::nullopt;
  std::optional<MaxShift> max_shift = std::nullopt;

  friend bool operator==(const ScalingChanges&, const ScalingChanges&) = default;
};

/// A scaling of an experiment: its rule, and how the config came to it.
struct Scaling {
  std::string name;                     ///< what the column `scaling` shows
  std::optional<double> value;          ///< the number of a sweep, for the column `scaling_value`
  ScalingRule rule = {};                ///< all that decides numbers
  const ScalingRow* like = nullptr;     ///< where it starts from; nullptr: the score itself
  std::vector<double> parameters = {};  ///< of that row
  ScalingChanges changes = {};

  friend bool operator==(const Scaling&, const Scaling&) = default;
};

/// `start` with the changes made.
ScalingRule changed(ScalingRule start, const ScalingChanges& changes);

/// What a scaling may depend on besides the scores.
struct ScoreSize {
  std::int64_t d = 1;
  std::int64_t keys = 1;  ///< that the query sees
};

/// Scores of some queries, and if the rule has a norm, the squared norms of their queries and keys:
/// squared_query_norms[query] and squared_key_norms[key * stride + query], as the scores are laid
/// out, with `stride` squared query norms.
struct Scores {
  std::span<const double> scores;
  std::span<const double> squared_query_norms = {};
  std::span<const double> squared_key_norms = {};
};

/// The rule's factor as a power law of the head size: multiplier * d^power.
struct PowerLaw {
  double multiplier = 1;
  double power = 0;

  /// At head size d >= 1. The power -1 is correctly rounded; -1/2 is the quotient of 1 and the
  /// rounded root, as it is usually computed, within a unit in the last place.
  double at(double d) const;
};

PowerLaw power_law(const ScalingRule& rule, std::int64_t keys);

/// What a score (after its norm) is multiplied by, before a soft-cap bends it.
double multiplier_at(const ScalingRule& rule, const ScoreSize& size);

/// d logit / d score at the logit `logit` (after its norm; norms are held). Under a soft-cap the
/// error is a rounding error of the multiplier.
double logit_per_score(const ScalingRule& rule, const ScoreSize& size, double logit);

/// True if the logit depends on d, so that given scores need one.
bool needs_d(const ScalingRule& rule);

inline bool needs_norms(const ScalingRule& rule) {
  return rule.norm != Norm::kNone;
}

/// The formula in full, such as "50 tanh(q.k / sqrt(144) / 50)", followed by what differs from a
/// softmax in float64.
std::string formula(const ScalingRule& rule);

/// Logits of the scores, in the precision of the rule: with scale_order after, the score and the
/// logit are rounded to it, before only the logit; each step of a soft-cap is rounded. `logits` has
/// the scores' length and may be their memory. A norm of zero makes logits of zero.
void apply_scaling(const ScalingRule& rule, const ScoreSize& size, const Scores& scores,
                   std::span<double> logits);

/// Which queries have an overflow that a soft-cap hides: in a narrow precision a number before the
/// cap may overflow, and what the cap makes of it looks like any other logit.
class HiddenOverflows {
 public:
  explicit HiddenOverflows(const ScalingRule& rule);

  /// Starts a group of queries, none of which overflowed yet.
  void start(std::int64_t queries);

  /// Takes the scores of the group's queries against some of their keys,
  /// scores[key * stride + query].
  void add(const ScoreSize& size, const Scores& scores, std::int64_t stride);

  /// True if a logit of the query is not finite without the cap, among the keys added so far.
  bool of(std::int64_t query) const {
    return uncapped_ && overflowed_[static_cast<std::size_t>(query)];
  }

 private:
  std::optional<ScalingRule> uncapped_;  ///< the rule without its cap; empty if nothing can hide
  std::vector<double> logits_;
  std::vector<bool> overflowed_;
};

}  // namespace attnscale
