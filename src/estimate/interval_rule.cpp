#include "estimate/interval_rule.h"

#include <algorithm>

#include "draw/score_skewness.h"
#include "experiment/expected_logits.h"

namespace attnscale {
namespace {

// Beyond so many expected spreads a soft-cap leaves a logit's tails nearly as they are.
constexpr double kTails = 3;

bool cuts_tails(const Draw& draw, const ScalingRule& rule) {
  if (!rule.softcap) return false;
  ScalingRule uncapped = rule;
  uncapped.softcap.reset();
  return *rule.softcap < kTails * expected_logit_sd(uncapped, draw);
}

double of_metric(const MetricRow& metric, const PowerSkewness& skewness) {
  return metric.kind == MetricKind::kLogitSd ? skewness.of_spread : skewness.of_kurtosis;
}

}  // namespace

bool has_interval(const MetricRow& metric, std::int64_t queries, double carrying) {
  if (queries < kFewestJudged) return true;
  return carrying >= (metric.kind == MetricKind::kPerQuery ? kFewestForMean : kFewestForInterval);
}

double logit_carrying_share(const MetricRow& metric, const Draw& draw, const ScalingRule& rule) {
  if (metric.kind == MetricKind::kLogitMean || cuts_tails(draw, rule)) return 1;
  const auto keys = static_cast<double>(draw.keys);
  if (needs_norms(rule)) return std::min(1.0, keys / of_metric(metric, normal_score_skewness()));
  const double of_score = of_metric(metric, score_skewness(draw.entries, draw.d, draw.keys));
  const double of_query = of_metric(metric, query_skewness(draw.entries, draw.d, draw.keys));
  const double share = 1 / std::max(of_score / keys, of_query);
  return share > 0 ? std::min(1.0, share) : 0;  // 0 of what is not a number
}

double logit_contrast_share(const MetricRow& metric, const Draw& draw, const ScalingRule& rule,
                            const ScalingRule& baseline) {
  const double share = std::min(logit_carrying_share(metric, draw, rule),
                                logit_carrying_share(metric, draw, baseline));
  if (metric.kind == MetricKind::kLogitMean) return share;
  const bool bends_alike = rule.softcap == baseline.softcap && rule.norm == baseline.norm;
  // G^2 of Hermite's polynomial of order n is n!^3 / (n/2)!^6: 8, 216 and 8000.
  if (bends_alike) return share;
  return metric.kind == MetricKind::kLogitSd ? share * 8 / 216 : share * 216 / 8000;
}

}  // namespace attnscale
