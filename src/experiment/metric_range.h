// What values a metric can have at all.
#pragma once

#include <cstdint>
#include <string>

#include "experiment/metric.h"
#include "experiment/scaling.h"

namespace attnscale {

/// Infinite where there is no end.
struct MetricRange {
  double least = 0;
  double most = 0;
};

/// Of one query, and so of any mean over queries, with so many keys whose weights are made so.
MetricRange metric_range(const MetricRow& metric, std::int64_t keys, const WeightRule& rule);

/// Whether a number is within, but for what single precision rounds.
bool is_possible(double number, const MetricRange& range);

/// "a number from 0 to 0.25", "a number of 1 or more", "a number".
std::string range_text(const MetricRange& range);

}  // namespace attnscale
