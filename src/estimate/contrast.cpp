#include "estimate/contrast.h"

#include <algorithm>
#include <cmath>

#include "estimate/interval_rule.h"
#include "estimate/logit_statistics.h"
#include "experiment/expected_logits.h"

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

}  // namespace

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
