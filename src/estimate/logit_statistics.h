// The mean of one number per query; and mean, spread and kurtosis of all logits of a cell, from the
// moments of per-query mean powers. The query is the unit: scores of one query share it and are not
// independent, so the standard errors of the latter are those of the delta method over queries.
#pragma once

#include <cstddef>

#include "estimate/interval.h"
#include "experiment/metric.h"
#include "numerics/moments.h"
#include "numerics/power_sums.h"

namespace attnscale {

/// The mean of one number per query, a column of `moments`, and its standard error: NaN with one
/// query, which does not say how far queries differ.
Estimate mean_estimate(const Moments& moments, std::size_t column);

/// Where the powers of one scaling are in their group, and what they were taken of.
struct LogitPowers {
  std::size_t first;
  PowerScale scale;
};

/// The metric under one scaling, from the moments of its group: the mean of what it measures per
/// query, or a statistic of logits. Their variance is unbiased; with one key it is the usual one
/// with divisor n - 1, and with one query it does not exist.
Estimate metric_estimate(const MetricRow& metric, const Moments& moments, const LogitPowers& place);

/// The metric under one scaling minus that under another, from the same queries: the standard error
/// is that of the difference, by the joint gradient.
Estimate logit_contrast(const MetricRow& metric, const Moments& powers, const LogitPowers& scaling,
                        const LogitPowers& baseline);

}  // namespace attnscale
