#include "experiment/histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "experiment/expected_logits.h"
#include "experiment/metric_range.h"
#include "numerics/double_double.h"

namespace attnscale {
namespace {

using Ends = LogitRange;

double power_of_ten(double exponent) {
  return plain::power(10, exponent);
}

Ends ends_of_logits(const Draw& draw, const Scaling& scaling) {
  return expected_logits(scaling.logit, draw);
}

Ends ends_of_metric(const MetricRow& metric, const Cell& cell, const Scaling& scaling) {
  if (metric.axis == HistogramAxis::kLog10) return {-20, 0};
  const bool is_of_sum = metric.axis == HistogramAxis::kLogSum;
  if (!is_of_sum && metric.axis != HistogramAxis::kLogit) {
    const auto [least, most] = metric_range(metric, cell.draw.keys, scaling.weights);
    return {least, most};
  }
  const Ends logits = ends_of_logits(cell.draw, scaling);
  if (!is_of_sum) return {0, std::max(std::abs(logits.low), std::abs(logits.high))};
  const double log_keys = plain::log(DoubleDouble(static_cast<double>(cell.draw.keys))).high;
  return {logits.low + log_keys, logits.high + log_keys};
}

Ends ends_of(const HistogramQuantity& quantity, const Cell& cell, const Scaling& scaling) {
  switch (quantity.of) {
    case HistogramOf::kScores:
      return ends_of_logits(cell.draw, {});
    case HistogramOf::kLogits:
      return ends_of_logits(cell.draw, scaling);
    case HistogramOf::kMetric:
      break;
  }
  return ends_of_metric(*quantity.metric, cell, scaling);
}

}  // namespace

HistogramBins::HistogramBins(const HistogramQuantity& quantity, const Cell& cell,
                             const Scaling& scaling) {
  const Ends ends = ends_of(quantity, cell, scaling);
  for (std::size_t i = 0; i <= kHistogramBins; ++i) {
    const double share = static_cast<double>(i) / kHistogramBins;
    shown_edges_.push_back(ends.low + share * (ends.high - ends.low));
  }
  edges_ = shown_edges_;
  if (quantity.metric && quantity.metric->axis == HistogramAxis::kLog10) {
    std::transform(edges_.begin(), edges_.end(), edges_.begin(), power_of_ten);
  }
}

void HistogramBins::count(std::span<const double> values, std::vector<std::int64_t>& counts) const {
  counts.resize(kHistogramBins + 2);
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    // A value on an edge belongs to the bin above it, but the last edge to the last bin.
    auto bin = std::upper_bound(edges_.begin(), edges_.end(), value) - edges_.begin();
    if (value == edges_.back()) bin = kHistogramBins;
    ++counts[static_cast<std::size_t>(bin)];
  }
}

std::vector<HistogramRow> histogram_cell(const Plan& plan, const Cell& cell,
                                         const std::vector<std::vector<std::int64_t>>& counts) {
  const Experiment& experiment = plan.experiment_of(cell);
  std::vector<HistogramRow> rows;
  std::size_t place = 0;
  for (const Scaling& scaling : experiment.scalings) {
    const ResultKey key = key_of(plan, cell, scaling);
    for (const HistogramQuantity& quantity : experiment.histogram) {
      const std::vector<std::int64_t>& of_bins = counts[place++];
      const HistogramBins bins(quantity, cell, scaling);
      const auto& edges = bins.edges();
      const std::string name(quantity.name());
      const auto total =
          static_cast<double>(std::accumulate(of_bins.begin(), of_bins.end(), std::int64_t{0}));
      for (std::size_t i = 0; i < of_bins.size(); ++i) {
        HistogramRow row{key, name, {}, {}, of_bins[i], {}};
        if (i > 0) row.bin_low = edges[i - 1];
        if (i <= kHistogramBins) row.bin_high = edges[i];
        if (row.bin_low && row.bin_high && *row.bin_high > *row.bin_low) {
          if (total > 0) {
            row.density = static_cast<double>(row.count) / total / (*row.bin_high - *row.bin_low);
          }
        } else if (row.count == 0) {
          continue;  // nothing beyond an end: no line
        }
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

}  // namespace attnscale
