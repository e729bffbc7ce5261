#include "numerics/query_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "numerics/column.h"
#include "numerics/lanes.h"
#include "numerics/portable_math.h"
#include "numerics/softmax.h"

namespace attnscale {
namespace {

// e^x for any x, from 0 to infinity: plain::exp ends at 700.
ATTNSCALE_VECTOR_CLONES
void exponentiate(std::span<double> numbers) {
  for (double& x : numbers) {
    const bool is_within = std::abs(x) <= 700;
    const double power = plain::exp(is_within ? x : x / 2);
    x = is_within ? power : power * power;
  }
}

// Neighbours first, then their sums, and so on; what has no neighbour waits. The numbers are lost.
double sum_of_pairs(Precision precision, std::span<double> numbers) {
  for (std::size_t count = numbers.size(); count > 1; count = (count + 1) / 2) {
    const std::size_t pairs = count / 2;
    for (std::size_t i = 0; i < pairs; ++i) {
      numbers[i] = round_to(precision, numbers[2 * i] + numbers[2 * i + 1]);
    }
    if (count % 2 == 1) numbers[pairs] = numbers[count - 1];
  }
  return round_to(precision, numbers[0]);
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

  const bool exact = rule.precision.has_exact_weights();
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

void QueryWeights::take_exponentials(std::span<const double> logits,
                                     std::span<double> exponentials) const {
  const PrecisionSteps& steps = rule_.precision;
  for (std::size_t key = 0; key < logits.size(); ++key) exponentials[key] = logits[key] - shift_;
  round_all(std::min(steps.logit, steps.exponential), exponentials);
  exponentiate(exponentials);
  round_all(steps.exponential, exponentials);
}

double QueryWeights::exponential_of(double logit) const {
  double exponential = 0;
  take_exponentials({&logit, 1}, {&exponential, 1});
  return exponential;
}

// Puts exponentials in place of weights and returns their sum. All keys are one tile unless tiles
// are asked for; a shift that starts below every logit means that there is nothing to rescale.
double QueryWeights::sum_exponentials() {
  const PrecisionSteps& steps = rule_.precision;
  const std::size_t keys = logits_.size();
  const std::size_t tile = steps.sum_order == SumOrder::kTiles
                               ? std::min(keys, static_cast<std::size_t>(steps.tile_keys))
                               : keys;
  double total = 0;
  for (std::size_t first = 0; first < keys; first += tile) {
    const std::size_t end = std::min(keys, first + tile);
    if (rule_.max_shift == MaxShift::kSubtracted) {
      const double shift_before = shift_;
      const auto seen = logits_.subspan(first, end - first);
      shift_ = std::max(shift_, *std::max_element(seen.begin(), seen.end()));
      if (first > 0 && shift_ > shift_before) {
        const double factor = exponential_of(shift_before);
        total = round_to(steps.sum, total * factor);
        const std::span<double> before = std::span(weights_).first(first);
        for (double& weight : before) weight *= factor;
        round_all(steps.sum, before);
      }
    }
    const std::span<double> exponentials = std::span(weights_).subspan(first, end - first);
    take_exponentials(logits_.subspan(first, end - first), exponentials);
    const double sum = with_rounding_to(steps.sum, [&](auto round) {
      return std::accumulate(exponentials.begin(), exponentials.end(), 0.0,
                             [&](double so_far, double e) { return round(so_far + e); });
    });
    total = round_to(steps.sum, total + sum);
  }
  if (steps.sum_order != SumOrder::kPairwise) return total;
  std::copy_n(weights_.begin(), keys, complements_.begin());
  return sum_of_pairs(steps.sum, std::span(complements_).first(keys));
}

void QueryWeights::fill_softmax_step_by_step() {
  const PrecisionSteps& steps = rule_.precision;
  const bool has_sink = rule_.normaliser.kind == NormaliserKind::kSink;
  const double sink_logit = round_to(steps.logit, rule_.normaliser.bias);
  shift_ = 0;
  if (rule_.max_shift == MaxShift::kSubtracted) {
    shift_ = has_sink ? sink_logit : -std::numeric_limits<double>::infinity();
  }
  double total = sum_exponentials();
  total_ = total;
  if (has_sink) {
    const double sink = exponential_of(sink_logit);
    total = round_to(steps.sum, total + sink);
    sink_ = round_to(steps.weight, sink / total);
  }
  // A finite number over infinity would be a weight of 0 that looks like one.
  overflowed_ = !std::isfinite(total);
  for (std::size_t key = 0; key < logits_.size(); ++key) weights_[key] /= total;
  finish_weights();
}

// Rounds them, and what is left of 1.
void QueryWeights::finish_weights() {
  const std::span<double> found = std::span(weights_).first(logits_.size());
  const std::span<double> left = std::span(complements_).first(logits_.size());
  round_all(rule_.precision.weight, found);
  for (std::size_t key = 0; key < found.size(); ++key) left[key] = 1 - found[key];
  round_all(rule_.precision.weight, left);
}

double QueryWeights::log_sum() const {
  if (!rule_.precision.has_exact_weights() && rule_.normaliser.kind != NormaliserKind::kSigmoid) {
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
  const PrecisionSteps& steps = rule_.precision;
  const double bias = round_to(steps.logit, rule_.normaliser.bias);
  const std::span<double> found = std::span(weights_).first(logits_.size());
  for (std::size_t key = 0; key < found.size(); ++key) found[key] = -(logits_[key] + bias);
  round_all(steps.logit, found);
  overflowed_ = !all_finite(found);
  exponentiate(found);
  round_all(steps.exponential, found);
  for (double& number : found) number = 1 + number;
  round_all(steps.exponential, found);
  for (double& number : found) number = 1 / number;
  finish_weights();
}

}  // namespace attnscale
