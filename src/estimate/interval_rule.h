// Which estimates have an interval: those that enough queries carry, by theory and the number of
// queries. A sample that saw none of the rare queries that make a mean looks precise, so no number
// of the sample has a say. Knows nothing of rows of results.
#pragma once

#include <cstdint>

#include "draw/score_tile.h"
#include "experiment/metric.h"
#include "formula/formula.h"

namespace attnscale {

/// With fewer queries nothing is judged: any mean is carried by a handful, as the reader knows.
inline constexpr std::int64_t kFewestJudged = 50;

/// An interval of n numbers of skewness G misses about 0.25 G^2 / n more often than it says (Hall,
/// The Bootstrap and Edgeworth Expansion, 1992, 2.6): with n / G^2 as small as this 1.7 %.
inline constexpr double kFewestForInterval = 15;

/// The least n m^2 / E[x^2] of a mean m of x that few carry, for which n / G^2 is about that.
inline constexpr double kFewestForMean = 2 * kFewestForInterval;

/// True if an estimate of so many queries, of which `carrying` are expected to carry it, has an
/// interval.
bool has_interval(const MetricRow& metric, std::int64_t queries, double carrying);

/// What a metric rests on under a law and a logit.
enum class MomentsKnown {
  kAll,      ///< it and its standard error exist
  kNoError,  ///< it may exist; its standard error does not, as far as theory knows
  kNone,     ///< it does not exist
};

/// Under a soft-cap or after a norm all moments exist; of a formula of which theory knows nothing
/// they are taken to be those of scores, and the metric to exist.
MomentsKnown moments_known(const MetricRow& metric, const Draw& draw, const Formula& logit);

/// The share of queries expected to carry a statistic of all logits: 1 / G^2 for the part that the
/// keys of a query share, keys / G^2 for the part that they do not, whichever is less; at most 1. 0
/// where the moments do not exist. 1 for the mean, under a soft-cap that cuts off the tails, and
/// for formulas of which theory knows nothing.
/// After a norm that of normal scores, whose tails are longer.
double logit_carrying_share(const MetricRow& metric, const Draw& draw, const Formula& logit);

/// The same of the difference from another logit: the lesser of both. Where one bends logits that
/// the other does not, the difference goes with two powers more, for whose G^2 the share is divided
/// by the ratio that it has for normal scores.
double logit_contrast_share(const MetricRow& metric, const Draw& draw, const Formula& logit,
                            const Formula& baseline);

}  // namespace attnscale
