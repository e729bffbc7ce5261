#include "estimate/interval.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "draw/score_skewness.h"
#include "experiment/expected_logits.h"
#include "formula/program.h"
#include "numerics/portable_math.h"
#include "numerics/quantiles.h"

namespace attnscale {
namespace {

// Beyond so many expected spreads a soft-cap leaves a logit's tails nearly as they are.
constexpr double kTails = 3;

// How a logit bends scores, as far as theory knows.
struct Bend {
  std::optional<double> cap;
  VectorNorm norm;

  bool has_ends() const { return cap || norm != VectorNorm::kNone; }

  friend bool operator==(const Bend&, const Bend&) = default;
};

// Of a multiple of scores or one soft-cap; nothing of other formulas.
std::optional<Bend> bend_of(const Draw& draw, const Formula& logit) {
  const FormulaSize size = size_of(draw);
  const auto known = capped_logit(logit, size);
  if (!known) return std::nullopt;
  Bend bend{std::nullopt, FormulaProgram(logit, size).norm()};
  if (known->cap) bend.cap = known->cap->at(size.d);
  return bend;
}

bool cuts_tails(const Draw& draw, const Formula& logit, const Bend& bend) {
  return bend.cap && *bend.cap < kTails * expected_logit_sd(logit, draw);
}

double of_metric(const MetricRow& metric, const PowerSkewness& skewness) {
  return metric.kind == MetricKind::kLogitSd ? skewness.of_spread : skewness.of_kurtosis;
}

}  // namespace

double student_reach(std::int64_t queries, double confidence) {
  // Rows come by the thousand with the same number of queries: the last answer is kept.
  struct KnownReach {
    std::int64_t queries = 0;
    double confidence = 0;
    double reach = 0;
  };
  thread_local KnownReach last;
  if (last.queries != queries || last.confidence != confidence) {
    const auto degrees = static_cast<double>(queries - 1);
    last = {queries, confidence, student_quantile(degrees, 0.5 + confidence / 2)};
  }
  return last.reach;
}

Interval student_interval(const Estimate& estimate, std::int64_t queries) {
  const double half = student_reach(queries) * estimate.std_error;
  return {estimate.value - half, estimate.value + half};
}

Interval log_interval(const Estimate& estimate, double floor, std::int64_t queries) {
  const double above = estimate.value - floor;
  if (!(above > 0)) return student_interval(estimate, queries);
  const double factor = plain::exp(student_reach(queries) * estimate.std_error / above);
  return {floor + above / factor, floor + above * factor};
}

Interval fraction_interval(double fraction, std::int64_t queries, double tail) {
  const auto n = static_cast<double>(queries);
  const double counted = std::round(fraction * n);
  // The p at which as many or more, and as few or fewer, have the probability `tail`.
  return {counted == 0 ? 0 : beta_quantile(counted, n - counted + 1, tail),
          counted == n ? 1 : beta_quantile(counted + 1, n - counted, 1 - tail)};
}

Interval paired_fraction_interval(double difference, double differing, std::int64_t queries) {
  const double more = (differing + difference) / 2;
  const double fewer = (differing - difference) / 2;
  const Interval of_more = fraction_interval(more, queries);
  const Interval of_fewer = fraction_interval(fewer, queries);
  const auto joined = [](double a, double b) { return std::sqrt(a * a + b * b); };
  return {std::max(-1.0, difference - joined(more - of_more.low, of_fewer.high - fewer)),
          std::min(1.0, difference + joined(of_more.high - more, fewer - of_fewer.low))};
}

bool has_interval(const MetricRow& metric, std::int64_t queries, double carrying) {
  if (queries < kFewestJudged) return true;
  return carrying >= (metric.kind == MetricKind::kPerQuery ? kFewestForMean : kFewestForInterval);
}

MomentsKnown moments_known(const MetricRow& metric, const Draw& draw, const Formula& logit) {
  if (has_moments(draw.entries, metric.moments)) return MomentsKnown::kAll;
  const std::optional<Bend> bend = bend_of(draw, logit);
  if (bend && bend->has_ends()) return MomentsKnown::kAll;
  // The error rests on moments of twice the order.
  const bool exists = !bend || has_moments(draw.entries, metric.moments / 2);
  return exists ? MomentsKnown::kNoError : MomentsKnown::kNone;
}

double logit_carrying_share(const MetricRow& metric, const Draw& draw, const Formula& logit) {
  const std::optional<Bend> bend = bend_of(draw, logit);
  if (metric.kind == MetricKind::kLogitMean || !bend || cuts_tails(draw, logit, *bend)) return 1;
  const auto keys = static_cast<double>(draw.keys);
  if (bend->norm != VectorNorm::kNone)
    return std::min(1.0, keys / of_metric(metric, normal_score_skewness()));
  const double of_score = of_metric(metric, score_skewness(draw.entries, draw.d, draw.keys));
  const double of_query = of_metric(metric, query_skewness(draw.entries, draw.d, draw.keys));
  const double share = 1 / std::max(of_score / keys, of_query);
  return share > 0 ? std::min(1.0, share) : 0;  // 0 of what is not a number
}

double logit_contrast_share(const MetricRow& metric, const Draw& draw, const Formula& logit,
                            const Formula& baseline) {
  const double share = std::min(logit_carrying_share(metric, draw, logit),
                                logit_carrying_share(metric, draw, baseline));
  if (metric.kind == MetricKind::kLogitMean) return share;
  const bool bends_alike = bend_of(draw, logit) == bend_of(draw, baseline);
  // G^2 of Hermite's polynomial of order n is n!^3 / (n/2)!^6: 8, 216 and 8000.
  if (bends_alike) return share;
  return metric.kind == MetricKind::kLogitSd ? share * 8 / 216 : share * 216 / 8000;
}

}  // namespace attnscale
