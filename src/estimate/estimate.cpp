#include "estimate/estimate.h"

#include <algorithm>
#include <cmath>

#include "estimate/interval.h"
#include "estimate/logit_statistics.h"
#include "experiment/expected_logits.h"
#include "numerics/portable_math.h"

namespace attnscale {
namespace {

void fill_contrast(const Estimate& estimate, MomentsKnown known, bool is_carried,
                   ContrastRow& row) {
  if (!std::isfinite(estimate.value) || known == MomentsKnown::kNone) return;
  row.estimate = estimate.value;
  if (known == MomentsKnown::kNoError || !(estimate.std_error > 0)) return;
  row.std_error = estimate.std_error;
  if (!is_carried) return;
  const Interval interval = student_interval(estimate, row.queries);
  row.ci_low = interval.low;
  row.ci_high = interval.high;
}

// Of numbers that are -1, 0 or 1: the mean square is the fraction that is not 0.
void replace_by_paired_interval(const Moments& moments, ContrastRow& row) {
  if (!row.estimate) return;
  const double difference = moments.mean[0];
  const double differing =
      moments.central_sum(0, 0) / static_cast<double>(moments.count) + difference * difference;
  const Interval interval = paired_fraction_interval(difference, differing, moments.count);
  row.ci_low = interval.low;
  row.ci_high = interval.high;
}

// The interval is the one that fits the metric: a spread is above 0 and a kurtosis above 1.
Interval interval_of(const MetricRow& metric, const Estimate& estimate, std::int64_t queries) {
  if (metric.kind == MetricKind::kLogitSd) return log_interval(estimate, 0, queries);
  if (metric.kind == MetricKind::kLogitKurtosis) return log_interval(estimate, 1, queries);
  return student_interval(estimate, queries);
}

void fill_estimate(const MetricRow& metric, MomentsKnown known, const Estimate& estimate,
                   ResultRow& row) {
  if (!std::isfinite(estimate.value)) {
    row.status = row.queries > 0 && estimate.std_error == 0 ? LineStatus::kDegenerate
                                                            : LineStatus::kNonfinite;
    return;
  }
  if (known == MomentsKnown::kNone) {
    row.status = LineStatus::kNoMoment;
    return;
  }
  row.estimate = estimate.value;
  if (!(estimate.std_error > 0) || std::isinf(estimate.std_error)) {
    // Squares of what did vary may overflow.
    const bool varied = row.queries >= 2 && estimate.std_error != 0;
    row.status = varied ? LineStatus::kNonfinite : LineStatus::kDegenerate;
    return;
  }
  row.status = LineStatus::kOk;
  if (known == MomentsKnown::kNoError) return;
  row.std_error = estimate.std_error;
  if (!has_interval(metric, row.queries, *row.carrying)) {
    row.status = LineStatus::kRare;
    return;
  }
  fill_interval(metric, row);
}

void fill_fraction(const MetricRow& metric, double fraction, ResultRow& row) {
  row.status = LineStatus::kOk;
  row.estimate = fraction;
  fill_interval(metric, row);
  if (fraction > 0 && fraction < 1) {
    row.std_error = std::sqrt(fraction * (1 - fraction) / static_cast<double>(row.queries));
  }
}

void fill_distribution(const Moments& moments, const MetricCounts& counts, ResultRow& row) {
  const double sd = moments.count < 2 ? kNan : moments.sd(0);
  if (std::isfinite(sd)) row.sd = sd;
  row.min = counts.min;
  row.max = counts.max;
  const auto quantile = [&](double q) -> std::optional<double> {
    const auto value = counts.sketch.quantile(q);
    if (!value) return std::nullopt;
    return std::clamp(*value, counts.min, counts.max);
  };
  row.q05 = quantile(0.05);
  // Around 1/2 the sketch's bins of numbers and of complements overlap; none of its errors grows by
  // keeping the order.
  row.median = std::max(quantile(0.5), row.q05);
  row.q95 = std::max(quantile(0.95), row.median);
  // sqrt(1/4 / n) over the density at the median, which the values between two quantiles tell: as
  // wide as a few of the sketch's bins, and narrow beside the law of a metric.
  constexpr double kAside = 0.05;
  const auto low = quantile(0.5 - kAside);
  const auto high = quantile(0.5 + kAside);
  if (low && high && *high > *low) {
    const double density = 2 * kAside / (*high - *low);
    row.median_std_error = 0.5 / std::sqrt(static_cast<double>(row.queries)) / density;
  }
}

}  // namespace

void fill_reference(std::optional<double> reference, ResultRow& row) {
  row.reference = reference;
  if (row.reference && row.estimate && row.std_error && row.left_out == 0) {
    row.z = (*row.estimate - *row.reference) / *row.std_error;
  }
}

void fill_interval(const MetricRow& metric, ResultRow& row) {
  if (!metric.is_fraction && !row.std_error) return;
  const Interval interval = metric.is_fraction
                                ? fraction_interval(*row.estimate, row.queries)
                                : interval_of(metric, {*row.estimate, *row.std_error}, row.queries);
  row.ci_low = interval.low;
  row.ci_high = interval.high;
}

std::vector<ResultRow> estimate_cell(const Plan& plan, const Cell& cell, const CellTally& tally,
                                     ExactValues& exact) {
  const Experiment& experiment = plan.experiment_of(cell);
  auto counts = tally.counts.metrics.begin();  // of the next metric per query
  std::vector<ResultRow> rows;
  for (std::size_t s = 0; s < experiment.scalings.size(); ++s) {
    const Scaling& scaling = experiment.scalings[s];
    const std::vector<std::optional<double>> references = exact.of(experiment, cell, scaling);
    const std::vector<double> shares = exact.carrying_shares(experiment, cell, scaling);
    for (std::size_t m = 0; m < experiment.metrics.size(); ++m) {
      const MetricRow* metric = experiment.metrics[m];
      ResultRow row;
      row.key = key_of(plan, cell, scaling);
      row.metric = metric->name;
      const Moments& moments = tally.moments[group_of(experiment, s, *metric)];
      row.queries = moments.count;
      row.left_out = moments.left_out;
      row.carrying = shares[m] * static_cast<double>(row.queries);
      const Estimate estimate =
          metric_estimate(*metric, moments, power_scale(scaling.logit, cell.draw));
      if (metric->is_fraction && std::isfinite(estimate.value)) {
        fill_fraction(*metric, estimate.value, row);
      } else {
        fill_estimate(*metric, moments_known(*metric, cell.draw, scaling.logit), estimate, row);
      }
      if (row.estimate && row.left_out > 0) row.status = LineStatus::kSomeNonfinite;
      if (metric->kind == MetricKind::kPerQuery) {
        if (row.estimate) fill_distribution(moments, *counts, row);
        ++counts;
      }
      fill_reference(references[m], row);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<ContrastRow> contrast_cell(const Plan& plan, const Cell& cell, const CellTally& tally,
                                       const ExactValues& exact) {
  const Experiment& experiment = plan.experiment_of(cell);
  const Scaling& baseline = experiment.scalings.front();
  const PowerScale baseline_scale = power_scale(baseline.logit, cell.draw);
  std::vector<ContrastRow> rows;
  for (std::size_t s = 1; s < experiment.scalings.size(); ++s) {
    const Scaling& scaling = experiment.scalings[s];
    const std::vector<double> shares = exact.contrast_shares(experiment, cell, scaling);
    for (std::size_t m = 0; m < experiment.metrics.size(); ++m) {
      const MetricRow* metric = experiment.metrics[m];
      ContrastRow& row = rows.emplace_back();
      row.key = key_of(plan, cell, scaling);
      row.metric = metric->name;
      row.baseline = baseline.name;
      const MomentsKnown known = std::max(moments_known(*metric, cell.draw, scaling.logit),
                                          moments_known(*metric, cell.draw, baseline.logit));
      const Moments& moments = tally.moments[contrast_group_of(experiment, s, *metric)];
      row.queries = moments.count;
      row.left_out = moments.left_out;
      const bool is_carried =
          has_interval(*metric, row.queries, shares[m] * static_cast<double>(row.queries));
      const PowerScale scale = power_scale(scaling.logit, cell.draw);
      fill_contrast(metric_contrast(*metric, moments, scale, baseline_scale), known, is_carried,
                    row);
      if (metric->is_fraction) replace_by_paired_interval(moments, row);
    }
  }
  return rows;
}

}  // namespace attnscale
