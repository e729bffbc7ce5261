#include "estimate/contrast.h"

#include <cmath>

#include "estimate/interval_rule.h"
#include "estimate/logit_statistics.h"

namespace attnscale {
namespace {

// The place of the difference in a metric's group, after the metric itself.
constexpr std::size_t kDifference = 1;

void fill_contrast(const Estimate& estimate, bool has_error_bar, bool is_carried,
                   ContrastRow& row) {
  if (!std::isfinite(estimate.value)) return;
  row.estimate = estimate.value;
  if (!has_error_bar || !(estimate.std_error > 0)) return;
  row.std_error = estimate.std_error;
  if (!is_carried) return;
  const Interval interval = student_interval(estimate, row.queries);
  row.ci_low = interval.low;
  row.ci_high = interval.high;
}

// Of numbers that are -1, 0 or 1: the mean square is the fraction that is not 0.
void replace_by_paired_interval(const Moments& moments, ContrastRow& row) {
  if (!row.estimate) return;
  const double difference = moments.mean[kDifference];
  const double differing =
      moments.central_sum(kDifference, kDifference) / static_cast<double>(moments.count) +
      difference * difference;
  const Interval interval = paired_fraction_interval(difference, differing, moments.count);
  row.ci_low = interval.low;
  row.ci_high = interval.high;
}

}  // namespace

std::vector<ContrastRow> contrast_cell(const Plan& plan, const Cell& cell, const CellTally& tally,
                                       const ExactValues& exact) {
  const Experiment& experiment = plan.experiment_of(cell);
  const Scaling& baseline = experiment.scalings.front();
  const LogitPowers baseline_powers = own_powers(experiment, cell.draw, 0);
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
      const bool has_error_bar = has_moments(cell.draw.entries, metric->moments);
      const Moments& moments = tally.moments[group_of(experiment, s, *metric)];
      row.queries = moments.count;
      const bool is_carried =
          has_interval(*metric, row.queries, shares[m] * static_cast<double>(row.queries));
      if (metric->kind != MetricKind::kPerQuery) {
        const LogitPowers powers = own_powers(experiment, cell.draw, s);
        fill_contrast(logit_contrast(*metric, moments, powers, baseline_powers), has_error_bar,
                      is_carried, row);
      } else {
        fill_contrast(mean_estimate(moments, kDifference), has_error_bar, is_carried, row);
        if (metric->is_fraction) replace_by_paired_interval(moments, row);
      }
    }
  }
  return rows;
}

}  // namespace attnscale
