// Mean, spread and kurtosis of all logits of a cell, from the moments of per-query mean powers. The
// query is the unit: scores of one query share it and are not independent, so the standard errors
// are those of the delta method over queries.
#pragma once

#include <cstddef>

#include "estimate/interval.h"
#include "experiment/metric.h"
#include "numerics/moments.h"

namespace attnscale {

/// Of the powers about `centre`; `first` is the place of the first power within the group. The
/// variance is unbiased; with one key it is the usual one with divisor n - 1, and with one query it
/// does not exist.
Estimate logit_mean(const Moments& powers, std::size_t first, double centre);
Estimate logit_sd(const Moments& powers, std::size_t first);
Estimate logit_kurtosis(const Moments& powers, std::size_t first);

/// Where the powers of one scaling stand, and about what they were taken.
struct LogitPowers {
  std::size_t first;
  double centre;
};

/// The metric, a statistic of logits, under one scaling.
Estimate logit_statistic(const MetricRow& metric, const Moments& powers, const LogitPowers& place);

/// The metric under one scaling less that under another, from the same queries: the standard error
/// is that of the difference, by the joint gradient.
Estimate logit_contrast(const MetricRow& metric, const Moments& powers, const LogitPowers& scaling,
                        const LogitPowers& baseline);

}  // namespace attnscale
