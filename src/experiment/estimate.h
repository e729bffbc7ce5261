// From a cell's tally to the lines of the results: estimate, standard error, 95 % interval,
// quantiles, exact reference and z.
#pragma once

#include <cstdint>
#include <vector>

#include "experiment/exact_values.h"
#include "experiment/plan.h"
#include "experiment/result_row.h"
#include "experiment/tally.h"

namespace attnscale {

/// An estimate with its standard error; NaN where either does not exist. A standard error of 0
/// means that nothing varied.
struct Estimate {
  double value;
  double std_error;
};

/// Mean, standard deviation and kurtosis of all logits from the moments of per-query mean powers
/// about `centre`. The query is the unit: scores of one query share it and are not independent, so
/// the standard errors are those of the delta method over queries. The variance is unbiased; with
/// one key it is the usual one with divisor n - 1, and with one query it does not exist. `first` is
/// the place of the first power within the group.
Estimate logit_mean(const Moments& powers, std::size_t first, double centre);
Estimate logit_sd(const Moments& powers, std::size_t first);
Estimate logit_kurtosis(const Moments& powers, std::size_t first);

/// Two-sided 95 % quantile of Student's t with `queries` - 1 degrees of freedom; queries >= 2.
double student_quantile(std::int64_t queries);

/// Wilson's 95 % interval (Wilson 1927) of a fraction observed over `queries` queries.
struct Interval {
  double low;
  double high;
};
Interval wilson_interval(double fraction, std::int64_t queries);

/// The lines of one cell: scaling by scaling, metrics in the experiment's order. `exact` belongs to
/// the run, so that its cells share what they have in common.
std::vector<ResultRow> estimate_cell(const Config& config, const Cell& cell, const CellTally& tally,
                                     ExactValues& exact);

}  // namespace attnscale
