#include "experiment/scaling.h"

#include <algorithm>
#include <cmath>

#include "numerics/double_double.h"
#include "numerics/portable_math.h"

namespace attnscale {
namespace {

double power_of_d(double d, double power) {
  if (power == 0) return 1;
  if (power == -0.5) return 1 / std::sqrt(d);
  if (power == -1) return 1 / d;
  return plain::power(d, power);
}

double log_of_keys(const ScalingRule& rule, std::int64_t keys) {
  const double logarithm = plain::log(static_cast<double>(keys));
  return rule.log_keys_base ? logarithm / plain::log(*rule.log_keys_base) : logarithm;
}

// Products of the normalised queries and keys.
void normalise(Norm norm, std::int64_t d, const Scores& scores, std::span<double> out) {
  const double factor = norm == Norm::kRms ? static_cast<double>(d) : 1;
  const std::size_t stride = scores.squared_query_norms.size();
  for (std::size_t start = 0; start < out.size(); start += stride) {
    for (std::size_t query = 0; query < stride; ++query) {
      const std::size_t i = start + query;
      // Two roots: the product of the squares might overflow.
      const double lengths =
          std::sqrt(scores.squared_query_norms[query]) * std::sqrt(scores.squared_key_norms[i]);
      const double score = scores.scores[i];
      // Of single numbers the cosine is a sign, which rounded lengths need not leave whole.
      const double cosine = d == 1 ? std::copysign(1.0, score) : score / lengths;
      out[i] = lengths > 0 ? factor * cosine : 0;
    }
  }
}

void multiply(const ScalingRule& rule, double multiplier, std::span<double> numbers) {
  const Precision precision = rule.weights.precision;
  if (precision == Precision::kFloat64) {
    for (double& number : numbers) number *= multiplier;
    return;
  }
  for (double& number : numbers) {
    if (rule.scale_order == ScaleOrder::kAfter) number = round_to(precision, number);
    number = round_to(precision, multiplier * number);
  }
}

void bend(double cap, Precision precision, std::span<double> numbers) {
  for (double& number : numbers) {
    const double bent = plain::tanh(round_to(precision, number / cap));
    number = round_to(precision, cap * round_to(precision, bent));
  }
}

}  // namespace

ScalingRule changed(ScalingRule start, const ScalingChanges& changes) {
  ScalingRule rule = start;
  rule.multiplier *= changes.multiplier.value_or(1);
  rule.d_power += changes.d_power.value_or(0);
  rule.query_gain *= changes.gain.value_or(1);
  rule.key_gain *= changes.key_gain.value_or(changes.gain.value_or(1));
  if (changes.d) rule.d = changes.d;
  if (changes.log_keys_base) rule.log_keys_base = changes.log_keys_base;
  if (changes.softcap) rule.softcap = changes.softcap;
  if (changes.normaliser) rule.weights.normaliser = {*changes.normaliser, changes.bias.value_or(0)};
  if (changes.log_keys) rule.log_keys = *changes.log_keys;
  if (changes.norm) rule.norm = *changes.norm;
  if (changes.precision) rule.weights.precision = *changes.precision;
  if (changes.scale_order) rule.scale_order = *changes.scale_order;
  if (changes.max_shift) rule.weights.max_shift = *changes.max_shift;
  return rule;
}

double PowerLaw::at(double d) const {
  return multiplier * power_of_d(d, power);
}

PowerLaw power_law(const ScalingRule& rule, std::int64_t keys) {
  PowerLaw law{rule.multiplier * (rule.query_gain * rule.key_gain), rule.d_power};
  if (rule.log_keys) law.multiplier *= log_of_keys(rule, keys);
  if (!rule.d) return law;
  return {law.at(*rule.d), 0};
}

double multiplier_at(const ScalingRule& rule, const ScoreSize& size) {
  return power_law(rule, size.keys).at(static_cast<double>(size.d));
}

double logit_per_score(const ScalingRule& rule, const ScoreSize& size, double logit) {
  const double multiplier = multiplier_at(rule, size);
  if (!rule.softcap) return multiplier;
  const double bent = logit / *rule.softcap;
  return multiplier * ((1 - bent) * (1 + bent));
}

bool needs_d(const ScalingRule& rule) {
  return (rule.d_power != 0 && !rule.d) || rule.norm == Norm::kRms;
}

void apply_scaling(const ScalingRule& rule, const ScoreSize& size, const Scores& scores,
                   std::span<double> logits) {
  if (needs_norms(rule)) {
    normalise(rule.norm, size.d, scores, logits);
  } else if (scores.scores.data() != logits.data()) {
    std::ranges::copy(scores.scores, logits.begin());
  }
  multiply(rule, multiplier_at(rule, size), logits);
  if (rule.softcap) bend(*rule.softcap, rule.weights.precision, logits);
}

HiddenOverflows::HiddenOverflows(const ScalingRule& rule) {
  if (!rule.softcap || rule.weights.precision == Precision::kFloat64) return;
  uncapped_ = rule;
  uncapped_->softcap.reset();
}

void HiddenOverflows::start(std::int64_t queries) {
  if (uncapped_) overflowed_.assign(static_cast<std::size_t>(queries), false);
}

void HiddenOverflows::add(const ScoreSize& size, const Scores& scores, std::int64_t stride) {
  if (!uncapped_) return;
  logits_.resize(scores.scores.size());
  apply_scaling(*uncapped_, size, scores, logits_);
  for (std::size_t start = 0; start < logits_.size(); start += static_cast<std::size_t>(stride)) {
    for (std::size_t query = 0; query < overflowed_.size(); ++query) {
      if (!std::isfinite(logits_[start + query])) overflowed_[query] = true;
    }
  }
}

}  // namespace attnscale
