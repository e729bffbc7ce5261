// From an estimate and its standard error to a 95 % interval; and which estimates have one: those
// that enough queries carry, by theory and the number of queries. A sample that saw none of the
// rare queries that make a mean looks precise, so no number of the sample has a say. Knows nothing
// of rows of results.
#pragma once

#include <cstdint>

#include "draw/score_tile.h"
#include "experiment/metric.h"
#include "formula/formula.h"

namespace attnscale {

/// An estimate with its standard error; NaN if either does not exist. A standard error of 0 means
/// that nothing varied.
struct Estimate {
  double value;
  double std_error;
};

struct Interval {
  double low;
  double high;
};

/// How many standard errors Student's interval reaches to either side: the two-sided quantile with
/// `queries` - 1 degrees of freedom; queries >= 2.
double student_reach(std::int64_t queries, double confidence = 0.95);

/// Value plus and minus Student's quantile times the standard error.
Interval student_interval(const Estimate& estimate, std::int64_t queries);

/// The same on the logarithm of value - floor, for numbers that are above `floor` and err further
/// upwards than downwards. Student's interval if the value is not above the floor.
Interval log_interval(const Estimate& estimate, double floor, std::int64_t queries);

/// The interval of Clopper & Pearson (1934) of a fraction observed over `queries` queries: it holds
/// the exact fraction in at least 95 % of runs, whatever that is. (Wilson's holds it in 93 % if
/// about one query in a run is counted.) Each side leaves out the probability `tail`.
Interval fraction_interval(double fraction, std::int64_t queries, double tail = 0.025);

/// The 95 % interval of the difference of two fractions observed over the same queries. `differing`
/// is the fraction of queries that are in one class and not in the other: those that are in the
/// first alone, less those in the second alone, are the difference. Each has the interval of
/// fraction_interval, whose reaches add up as squares (Zou & Donner, Statistics in Medicine 27,
/// 2008): it is never empty, and where no query is in the second alone, as where one scaling
/// shrinks the logits of the other, no narrower than that of the first.
Interval paired_fraction_interval(double difference, double differing, std::int64_t queries);

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
