// The mean or root mean square of one number per query; and mean, spread and kurtosis of all logits
// of a cell, from the moments of per-query mean powers. The query is the unit: scores of one query
// share it and are not independent, so the standard errors of the latter are those of the delta
// method over queries.
#pragma once

#include "estimate/interval.h"
#include "experiment/metric.h"
#include "numerics/moments.h"
#include "numerics/power_sums.h"

namespace attnscale {

/// The metric under one scaling, from the moments of its group: the mean or root mean square of
/// what it measures per query, or a statistic of logits, whose powers were taken of `scale`. Their
/// variance is unbiased; with one key it is the usual one with divisor n - 1, and with one query it
/// does not exist. No standard error does with one query, which does not say how far they differ.
Estimate metric_estimate(const MetricRow& metric, const Moments& moments, const PowerScale& scale);

/// The metric under one scaling minus that under another, from the moments of the group of their
/// contrast: of powers or squares the standard error is that of the difference, by the joint
/// gradient.
Estimate metric_contrast(const MetricRow& metric, const Moments& moments, const PowerScale& scaling,
                         const PowerScale& baseline);

}  // namespace attnscale
