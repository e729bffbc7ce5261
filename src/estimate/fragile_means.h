// Means that a handful of queries carry: their intervals cover less than they say, because a
// sample without another such query looks precise. Knows nothing of how anything was drawn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "estimate/interval_rule.h"
#include "estimate/tally.h"
#include "experiment/result_row.h"

namespace attnscale {

/// n / G^2 with G the skewness of the metric over n queries: where a fraction f of the queries has
/// a number and the others have about none, G^2 is about 1 / f and this is how many have one. The
/// skewness is that of the sketch's bins. Infinity if nothing is skewed, or if the bins are too
/// wide to tell: their spread is not `sd`, that of the values.
double carrying_queries(const QuantileSketch& sketch, double sd);

/// Cochran's rule (Sampling Techniques, 1977, 2.15): with n > 25 G^2 a 95 % interval misses at most
/// 6 % of the time.
inline constexpr double kFewestCarrying = 25;

/// Collects the means of a run that fail the rule.
class FragileMeans {
 public:
  /// Takes the lines of one cell, as estimate_cell made them from `counts`.
  void add(const std::vector<ResultRow>& rows, const CellCounts& counts);

  /// One sentence for each experiment and metric, in the order they were met.
  std::vector<std::string> warnings() const;

 private:
  struct Finding {
    ResultRow worst;
    double carrying;
    int means;
  };
  std::vector<Finding> findings_;
};

}  // namespace attnscale
