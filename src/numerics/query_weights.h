// One query's logits and the weights that a normaliser makes of them, one by one: for what running
// sums do not give, such as sigmoids, emulated precision or the spectrum of the Jacobian. Knows
// nothing of scalings or metrics. Exponentials are the vector kernel's or portable_math's, never a
// library's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "numerics/precision_steps.h"

namespace attnscale {

/// What makes weights of logits.
enum class NormaliserKind {
  kSoftmax,  ///< e^logit over the sum of them
  kSink,     ///< softmax with one more logit per query, whose weight is dropped afterwards
  kSigmoid,  ///< 1 / (1 + e^-(logit + bias)), each key by itself
};

struct Normaliser {
  NormaliserKind kind = NormaliserKind::kSoftmax;
  double bias = 0;  ///< the sink's logit; what is added to each logit of a sigmoid

  friend bool operator==(const Normaliser&, const Normaliser&) = default;
};

/// Whether the largest logit is subtracted from all of them before the exponentials.
enum class MaxShift { kSubtracted, kNone };

/// How weights are computed.
struct WeightRule {
  Normaliser normaliser = {};
  PrecisionSteps precision = {};
  /// Of a softmax in a narrower precision; in float64 it is always subtracted, by a sigmoid never.
  MaxShift max_shift = MaxShift::kSubtracted;

  friend bool operator==(const WeightRule&, const WeightRule&) = default;
};

/// Weights of one query after the other.
///
/// In float64 no weight or complement loses digits to cancellation.
/// In a narrower precision each step is rounded as hardware of that precision does it: the
/// difference to the maximum (to which a sink counts), the exponential, each partial sum, the
/// weight and its complement; for a sigmoid the biased logit, the exponential, 1 + exponential and
/// the quotient. A sink is summed last.
class QueryWeights {
 public:
  /// Weighs `logits` (at least one; of a narrower precision already rounded to it), of which the
  /// first `aligned_keys` belong to aligned keys. The logits are not copied: they must live until
  /// the next call. Memory is kept from query to query.
  void weigh(std::span<const double> logits, const WeightRule& rule, std::int64_t aligned_keys);

  /// Records that a number on the way to the current query's logits overflowed, where the logits do
  /// not show it, as after a soft-cap.
  void mark_overflow() { overflowed_ = true; }

  std::span<const double> logits() const { return logits_; }
  std::span<const double> weights() const { return {weights_.data(), logits_.size()}; }

  /// 1 - weight of each key: in float64 without cancellation, in a narrower precision as that
  /// precision rounds it.
  std::span<const double> complements() const { return {complements_.data(), logits_.size()}; }

  /// p (1 - p) of a key: how its weight answers its own logit, rounded to the precision.
  double slope(std::size_t key) const {
    return round_to(rule_.precision.weight, weights_[key] * complements_[key]);
  }

  /// Index of the largest logit, the first of equals.
  std::size_t top() const { return top_; }

  /// Index of the largest logit but that one, the first of equals; top() where there is one key.
  std::size_t next() const { return next_; }

  /// The weight that a sink keeps back; 0 without a sink.
  double sink() const { return sink_; }

  /// ln sum e^logit over the keys, without a sink: of exact weights from the logits, in a narrower
  /// precision the number subtracted from them plus the log of their total, in float64.
  double log_sum() const;

  /// True where a logit was not finite or the weights are not: an exponential or the total
  /// overflowed, or every exponential was rounded to 0. An exponential of a sigmoid that overflows
  /// gives the weight 0, which is finite.
  bool overflowed() const { return overflowed_; }

  const WeightRule& rule() const { return rule_; }
  std::int64_t aligned_keys() const { return aligned_keys_; }

 private:
  void find_top();
  void fill_softmax();
  void fill_softmax_step_by_step();
  void take_exponentials(std::span<const double> logits, std::span<double> exponentials) const;
  double exponential_of(double logit) const;
  void finish_weights();
  double sum_exponentials();
  void fill_sigmoid();
  void fill_sigmoid_step_by_step();

  std::span<const double> logits_;
  WeightRule rule_;
  std::int64_t aligned_keys_ = 0;
  std::vector<double> weights_;  // at least as many as logits, padded for the vector kernel
  std::vector<double> complements_;
  std::size_t top_ = 0;
  std::size_t next_ = 0;
  double sink_ = 0;
  double shift_ = 0;  // of a rounded softmax: what was subtracted from logits
  double total_ = 0;  // and the sum of the keys' exponentials
  bool overflowed_ = false;
};

}  // namespace attnscale
