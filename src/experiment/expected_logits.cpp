#include "experiment/expected_logits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/unit.h"

namespace attnscale {
namespace {

double expected_squared_norm(const Law& law, double d) {
  return d * (law.mean * law.mean + law.sd * law.sd);
}

}  // namespace

double logit_centre(const ScalingRule& rule, const Draw& draw) {
  ScalingRule exact = rule;
  exact.weights.precision = Precision::kFloat64;  // in a narrow one the mean may overflow
  const auto d = static_cast<double>(draw.d);
  const double score = score_moments(draw.entries, draw.d, draw.keys).mean;
  const double query_norm = expected_squared_norm(draw.entries.queries, d);
  const double key_norm = expected_squared_norm(draw.entries.keys, d);
  double logit = 0;
  apply_scaling(exact, {draw.d, draw.keys}, {{&score, 1}, {&query_norm, 1}, {&key_norm, 1}},
                {&logit, 1});
  return logit;
}

PowerScale power_scale(const ScalingRule& rule, const Draw& draw) {
  Draw of_two_keys = draw;
  of_two_keys.keys = 2;
  const double sd = expected_logit_sd(rule, of_two_keys);
  return {logit_centre(rule, draw), sd > 0 ? unit_of(sd) : 1};
}

double expected_logit_sd(const ScalingRule& rule, const Draw& draw) {
  const double root = std::sqrt(static_cast<double>(draw.d));
  double sd = score_moments(draw.entries, draw.d, draw.keys).sd;
  if (rule.norm == Norm::kRms) sd = root;
  if (rule.norm == Norm::kCosine) sd = 1 / root;
  sd *= std::abs(multiplier_at(rule, {draw.d, draw.keys}));
  return rule.softcap ? std::min(sd, *rule.softcap) : sd;
}

double largest_logit(const ScalingRule& rule, const Draw& draw) {
  if (rule.softcap) return *rule.softcap;
  if (!needs_norms(rule)) return std::numeric_limits<double>::infinity();
  const double along = rule.norm == Norm::kRms ? static_cast<double>(draw.d) : 1;
  return along * std::abs(multiplier_at(rule, {draw.d, draw.keys}));
}

}  // namespace attnscale
