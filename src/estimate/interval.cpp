#include "estimate/interval.h"

#include <algorithm>
#include <cmath>

#include "numerics/portable_math.h"
#include "numerics/quantiles.h"

namespace attnscale {
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

}  // namespace attnscale
