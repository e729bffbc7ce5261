// What an exact value is asked of: the law of scores, what makes weights of them, and at which size
// or along which sizes. Knows nothing of config, plan or rows of results.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <optional>

#include "theory/logit_law.h"
#include "theory/top_key_terms.h"

namespace attnscale {

/// What turns one query's scores into weights: logit = cap tanh(multiplier score / cap), or
/// multiplier * score without a cap; a sink adds e^sink to the sum of e^logit. With a sigmoid bias
/// a key's weight is sigma(logit + bias), and there is no sink.
struct WeighingCase {
  std::int64_t keys = 2;        ///< at least 2; at least 1 with a sigmoid, where a margin is then 0
  double softcap = kNoSoftcap;  ///< above 0
  double sink = kNoSink;
  std::optional<double> sigmoid_bias = std::nullopt;

  friend auto operator<=>(const WeighingCase&, const WeighingCase&) = default;
};

/// True where logits are multiples of scores and weights those of a softmax without a sink.
inline bool is_linear(const WeighingCase& weighing) {
  return weighing.softcap == kNoSoftcap && weighing.sink == kNoSink && !weighing.sigmoid_bias;
}

/// What scores are: q.k of independent normal entries, or the cosine between a query and keys of
/// uniform direction (normal entries divided by their vectors' norms), whatever the norms were.
/// After an RMS norm q.k is d cosine: its multiplier is d times larger, its score_slope d times
/// smaller.
enum class ScoreLaw { kNormal, kCosine };

struct ExactRequest {
  double d = 1;  ///< above 0 (cosines: above 1), not necessarily whole
  WeighingCase weighing;
  double multiplier = 1;  ///< finite; of either sign, as scores are symmetric
  double entry_sd = 1;    ///< sd of a query entry times sd of a key entry; means are 0; no cosine's
  ScoreLaw law = ScoreLaw::kNormal;

  friend auto operator<=>(const ExactRequest&, const ExactRequest&) = default;
};

/// A scaling multiplier * d^d_power of normal scores as a function of d.
struct CrossingRequest {
  WeighingCase weighing;
  double multiplier = 1;
  double d_power = 0;
  double entry_sd = 1;

  friend auto operator<=>(const CrossingRequest&, const CrossingRequest&) = default;
};

/// Spread of normal scores' logits over the query's norm.
inline double spread_per_norm(const ExactRequest& request) {
  return std::abs(request.multiplier) * request.entry_sd;
}

}  // namespace attnscale
