// The formula of a scaling, written out for the plan and the lists.
#include "experiment/scaling.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

std::string with_gain(double gain, const std::string& vector) {
  return gain == 1 ? vector : shortest(gain) + " " + vector;
}

std::string product(const ScalingRule& rule) {
  if (rule.norm == Norm::kCosine) {
    return with_gain(rule.query_gain * rule.key_gain, "cos(q, k)");
  }
  const bool rms = rule.norm == Norm::kRms;
  const std::string q = with_gain(rule.query_gain, rms ? "rms(q)" : "q");
  const std::string k = with_gain(rule.key_gain, rms ? "rms(k)" : "k");
  if (rule.query_gain == 1 && rule.key_gain == 1) return q + "." + k;
  return "(" + q + ").(" + k + ")";
}

std::string linear(const ScalingRule& rule) {
  std::string text = with_gain(rule.multiplier, "");
  if (rule.log_keys) {
    text += (rule.log_keys_base ? "log_" + shortest(*rule.log_keys_base) : "ln") + "(keys) ";
  }
  text += product(rule);
  const std::string d = rule.d ? shortest(*rule.d) : "d";
  if (rule.d_power == -0.5) return text + " / sqrt(" + d + ")";
  if (rule.d_power == -1) return text + " / " + d;
  if (rule.d_power != 0) text += " * " + d + "^" + shortest(rule.d_power);
  return text;
}

std::string weights(const WeightRule& rule, ScaleOrder order) {
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
  if (rule.precision == Precision::kFloat64) return text;
  text += "; in " + std::string(name_in(kPrecisionNames, rule.precision));
  text +=
      order == ScaleOrder::kBefore ? ", scaled before the product" : ", scaled after the product";
  if (rule.max_shift == MaxShift::kNone) text += ", largest logit not subtracted";
  return text;
}

}  // namespace

std::string formula(const ScalingRule& rule) {
  std::string text = linear(rule);
  if (rule.softcap) {
    const std::string cap = shortest(*rule.softcap);
    text = cap + " tanh(" + text + " / " + cap + ")";
  }
  return text + weights(rule.weights, rule.scale_order);
}

}  // namespace attnscale
