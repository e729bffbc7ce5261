#include "numerics/query_weights.h"

#include <algorithm>
#include <cmath>

#include "numerics/lanes.h"
#include "numerics/portable_math.h"
#include "numerics/softmax.h"

namespace attnscale {
namespace {

// e^x for any x, from 0 to infinity: plain::exp ends at 700.
double exponential(double x) {
  if (std::abs(x) <= 700) return plain::exp(x);
  const double root = plain::exp(x / 2);
  return root * root;
}

bool all_finite(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace

void QueryWeights::weigh(std::span<const double> logits, const WeightRule& rule,
                         std::int64_t aligned_keys) {
  logits_ = logits;
  rule_ = rule;
  aligned_keys_ = aligned_keys;
  sink_ = 0;
  const auto size = static_cast<std::size_t>(padded(std::ssize(logits)));
  weights_.resize(size);
  complements_.resize(size);
  find_top();

  const bool exact = rule.precision == Precision::kFloat64;
  if (exact && !all_finite(logits)) {
    std::fill(weights_.begin(), weights_.end(), kNan);
    std::fill(complements_.begin(), complements_.end(), kNan);
  } else if (rule.normaliser.kind == NormaliserKind::kSigmoid) {
    exact ? fill_sigmoid() : fill_sigmoid_step_by_step();
  } else if (exact) {
    fill_softmax();
  } else {
    fill_softmax_step_by_step();
  }
  overflowed_ = overflowed_ || !all_finite(logits) || !all_finite(weights());
}

void QueryWeights::find_top() {
  overflowed_ = false;
  top_ =
      static_cast<std::size_t>(std::max_element(logits_.begin(), logits_.end()) - logits_.begin());
  next_ = top_;
  for (std::size_t key = 0; key < logits_.size(); ++key) {
    if (key != top_ && (next_ == top_ || logits_[key] > logits_[next_])) next_ = key;
  }
}

// Exponentials are relative to the top logit, so that a sink far above it costs none of them its
// digits. The sum of the others is the numerator of the top key's complement.
void QueryWeights::fill_softmax() {
  const bool has_sink = rule_.normaliser.kind == NormaliserKind::kSink;
  const double top = logits_[top_];
  const double larger = has_sink ? std::max(top, rule_.normaliser.bias) : top;
  std::copy(logits_.begin(), logits_.end(), weights_.begin());
  std::fill(weights_.begin() + std::ssize(logits_), weights_.end(), top);
  exponentials_below(top, weights_);
  double rest = 0;
  for (std::size_t key = 0; key < logits_.size(); ++key) rest += key == top_ ? 0 : weights_[key];
  const double share = plain::exp_of_negative(top - larger);
  const double sink = has_sink ? plain::exp_of_negative(rule_.normaliser.bias - larger) : 0;
  const double total = share * (1 + rest) + sink;
  sink_ = sink / total;
  for (std::size_t key = 0; key < logits_.size(); ++key) {
    weights_[key] = share * weights_[key] / total;
    // Every weight but the top one is at most one half: subtracting it from 1 loses nothing.
    complements_[key] = key == top_ ? (share * rest + sink) / total : 1 - weights_[key];
  }
}

void QueryWeights::fill_softmax_step_by_step() {
  const Precision precision = rule_.precision;
  const bool has_sink = rule_.normaliser.kind == NormaliserKind::kSink;
  const double sink_logit = round_to(precision, rule_.normaliser.bias);
  shift_ = 0;
  if (rule_.max_shift == MaxShift::kSubtracted) {
    shift_ = has_sink ? std::max(logits_[top_], sink_logit) : logits_[top_];
  }
  const auto exponential_of = [&](double logit) {
    return round_to(precision, exponential(round_to(precision, logit - shift_)));
  };

  double total = 0;
  for (std::size_t key = 0; key < logits_.size(); ++key) {
    weights_[key] = exponential_of(logits_[key]);
    // Accelerators sum 16-bit numbers in float32.
    total = round_to(Precision::kFloat32, total + weights_[key]);
  }
  total_ = total;
  if (has_sink) {
    const double sink = exponential_of(sink_logit);
    total = round_to(Precision::kFloat32, total + sink);
    sink_ = round_to(precision, sink / total);
  }
  // A finite number over infinity would be a weight of 0 that looks like one.
  overflowed_ = !std::isfinite(total);
  for (std::size_t key = 0; key < logits_.size(); ++key) {
    weights_[key] = round_to(precision, weights_[key] / total);
    complements_[key] = round_to(precision, 1 - weights_[key]);
  }
}

double QueryWeights::log_sum() const {
  if (rule_.precision != Precision::kFloat64 && rule_.normaliser.kind != NormaliserKind::kSigmoid) {
    return shift_ + plain::log(total_);
  }
  double rest = 0;
  for (std::size_t key = 0; key < logits_.size(); ++key) {
    if (key != top_) rest += plain::exp_of_negative(logits_[key] - logits_[top_]);
  }
  return logits_[top_] + plain::log1p(rest);
}

void QueryWeights::fill_sigmoid() {
  const double bias = rule_.normaliser.bias;
  for (std::size_t key = 0; key < logits_.size(); ++key) {
    weights_[key] = -std::abs(logits_[key] + bias);
  }
  std::fill(weights_.begin() + std::ssize(logits_), weights_.end(), 0);
  exponentials_below(0, weights_);
  for (std::size_t key = 0; key < logits_.size(); ++key) {
    const double larger = 1 / (1 + weights_[key]);
    const double smaller = weights_[key] / (1 + weights_[key]);
    const bool is_larger = logits_[key] + bias >= 0;
    weights_[key] = is_larger ? larger : smaller;
    complements_[key] = is_larger ? smaller : larger;
  }
}

void QueryWeights::fill_sigmoid_step_by_step() {
  const Precision precision = rule_.precision;
  const double bias = round_to(precision, rule_.normaliser.bias);
  for (std::size_t key = 0; key < logits_.size(); ++key) {
    const double logit = round_to(precision, logits_[key] + bias);
    overflowed_ = overflowed_ || !std::isfinite(logit);
    const double e = round_to(precision, exponential(-logit));
    weights_[key] = round_to(precision, 1 / round_to(precision, 1 + e));
    complements_[key] = round_to(precision, 1 - weights_[key]);
  }
}

}  // namespace attnscale
