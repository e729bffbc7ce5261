// Means that a handful of queries carry: their intervals cover less than they say, because a
// sample without another such query looks precise. Knows nothing of how anything was drawn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "estimate/interval.h"
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

/// Collects the estimates of a run that fail the rule, by theory where it knows (has_interval) and
/// else by the sample.
class FragileMeans {
 public:
  /// Takes the lines of one cell, as estimate_cell made them from `counts`.
  void add(const std::vector<ResultRow>& rows, const CellCounts& counts);

  /// Takes the contrasts of one cell.
  void add(const std::vector<ContrastRow>& rows);

  /// One sentence for each experiment, metric and kind of finding, in the order they were met.
  std::vector<std::string> warnings() const;

 private:
  enum class Kind { kMean, kRareLine, kRareContrast };
  struct Finding {
    Kind kind;
    ResultKey worst;
    std::string metric;
    std::int64_t queries;
    double carrying;  ///< of the queries
    int lines;
  };
  /// Counts a line under what is like it.
  void note(const Finding& finding);
  static std::string sentence_of(const Finding& finding);

  std::vector<Finding> findings_;
};

}  // namespace attnscale
