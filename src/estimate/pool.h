// Several runs that differ in their seed alone, as one: means weighted by queries, with errors from
// the runs' own, and how many of the runs' intervals hold the exact value. From rows alone: what
// they do not tell, such as quantiles over all queries, stays empty.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/result_row.h"

namespace attnscale {

/// One line of coverage.csv: how many runs' 95 % intervals hold a line's exact value.
struct CoverageRow {
  ResultKey key;
  std::string metric;
  std::int64_t runs = 0;
  double reference = 0;
  std::int64_t intervals = 0;   ///< of the runs, those that have one
  std::int64_t holding = 0;     ///< of these, those that hold the exact value
  std::optional<double> share;  ///< holding / intervals
};

/// The rows of all runs as those of one, under the first one's seed. `runs` are finished runs of
/// one config, in the order of their seeds, so that the same runs give the same bytes. Lines of
/// given numbers, which leave nothing to chance, are the first one's. Throws std::runtime_error if
/// the runs do not have the same lines.
///
/// With n_i of N queries in run i, the estimate is sum n_i/N estimate_i and its error is
/// sqrt(sum (n_i/N)^2 std_error_i^2). The sd is that of all queries, by the sums of squares within
/// and between runs.
Results pool_results(std::span<const Results> runs);

/// Every line that has an exact value, in the order of the rows.
std::vector<CoverageRow> coverage_of(std::span<const Results> runs);

}  // namespace attnscale
