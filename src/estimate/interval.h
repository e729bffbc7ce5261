// From an estimate and its standard error to a 95 % interval. Knows nothing of what was estimated.
#pragma once

#include <cstdint>

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

}  // namespace attnscale
