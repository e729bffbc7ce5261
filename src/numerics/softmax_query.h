// One query's softmax in float64, with or without a sink, as a few sums over its keys, and what
// follows from them for its weights without overflow or cancellation. The same numbers by single
// weights are in weight_sums and weight_jacobian. Inline, so that a loop over queries holds them.
// Knows nothing of scalings or metrics.
#pragma once

#include <cmath>

namespace attnscale {

/// What is kept of one query, from one pass over its logits. With top the largest logit, D_j = top
/// - logit_j and e_j = exp(-D_j), sums run over every key but the top one:
struct SoftmaxQuery {
  double top;          ///< largest logit
  double next;         ///< second largest logit; -infinity with one key
  double max_abs;      ///< largest absolute logit
  double rest;         ///< sum e_j: the top weight is share / (share (1 + rest) + sink)
  double rest_power2;  ///< sum e_j^2
  double rest_power3;  ///< sum e_j^3
  double rest_power4;  ///< sum e_j^4
  double rest_gap;     ///< sum e_j D_j; NaN where a logit is not finite
  double log_total;    ///< log of the sum of all exponentials less top
  double sink;         ///< exp(sink's logit - s), s the larger of it and top; 0 without a sink
  double share;        ///< exp(top - s): 1 but for a sink above the top
};

/// True where every logit of the query was finite.
inline bool is_finite(const SoftmaxQuery& query) {
  // A NaN may escape the other sums: a maximum drops it, and its exponential is 0. Its difference
  // to the top does not, nor does an infinite one times 0.
  return std::isfinite(query.rest_gap) && std::isfinite(query.max_abs);
}

/// The sum of all exponentials relative to e^s: weights are p_j = share e_j / total. At least 1.
inline double total(const SoftmaxQuery& query) {
  return query.share * (1 + query.rest) + query.sink;
}

inline double top_weight(const SoftmaxQuery& query) {
  return query.share / total(query);
}

/// 1 - top_weight.
inline double others_weight(const SoftmaxQuery& query) {
  return (query.share * query.rest + query.sink) / total(query);
}

/// sum p over the keys.
inline double sum_weights(const SoftmaxQuery& query) {
  return query.share * (1 + query.rest) / total(query);
}

/// 1 - sum p: the sink's weight.
inline double sum_kept_back(const SoftmaxQuery& query) {
  return query.sink / total(query);
}

/// -sum p ln p = sum p (log_total + D), in nats; needs SoftmaxLevel::kEntropy.
inline double sum_entropy(const SoftmaxQuery& query) {
  return query.log_total * sum_weights(query) + query.share * query.rest_gap / total(query);
}

/// sum p^2; needs SoftmaxLevel::kPowers, as all below.
inline double sum_squares(const SoftmaxQuery& query) {
  return query.share * query.share * (1 + query.rest_power2) / (total(query) * total(query));
}

/// 1 - sum p^2 = sum over i != j of p_i p_j, a sink among them, and the sink's square: twice the
/// top against all others, and what the keys' squares leave of the others' square.
inline double sum_without_squares(const SoftmaxQuery& query) {
  const double share = query.share;
  const double others = share * query.rest + query.sink;
  const double of_others = others * others - share * share * query.rest_power2;
  return (2 * share * others + of_others) / (total(query) * total(query));
}

/// sqrt(sum p^2).
inline double root_of_squares(const SoftmaxQuery& query) {
  return top_weight(query) * std::sqrt(1 + query.rest_power2);
}

/// (sum p)^2 / sum p^2.
inline double count_effective_keys(const SoftmaxQuery& query) {
  return (1 + query.rest) * (1 + query.rest) / (1 + query.rest_power2);
}

/// Frobenius norm of diag(p) - p p^T: its square is sum p_i^2 (1 - p_i)^2 + sum over i != j of
/// p_i^2 p_j^2, each sum with the top key apart from the rest, whose weights are at most one half,
/// and relative to the top weight, so that no sink makes a square too small. Beyond gaps of 373
/// the squares of the rest are: there it ends at the top key's own entry.
inline double jacobian_norm(const SoftmaxQuery& query) {
  const double p = top_weight(query);
  const double others = others_weight(query);
  const double squares = query.rest_power2;
  const double diagonal = squares - 2 * p * query.rest_power3 + p * p * query.rest_power4;
  const double pairs = p * p * (2 * squares + (squares * squares - query.rest_power4));
  return p * std::sqrt(others * others + diagonal + pairs);
}

}  // namespace attnscale
