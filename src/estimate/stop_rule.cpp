#include "estimate/stop_rule.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

#include "estimate/interval.h"
#include "estimate/logit_statistics.h"
#include "experiment/expected_logits.h"

namespace attnscale {
namespace {

bool is_about(const PrecisionTarget& target, const std::string& scaling) {
  return !target.scaling || *target.scaling == scaling;
}

double half_width(const PrecisionTarget& target, const Estimate& estimate, std::int64_t queries) {
  if (target.metric->is_fraction) {
    const Interval interval =
        fraction_interval(estimate.value, queries, (1 - target.confidence) / 2);
    return (interval.high - interval.low) / 2;
  }
  return student_reach(queries, target.confidence) * estimate.std_error;
}

bool is_met(const Experiment& experiment, const Cell& cell, const CellMoments& moments,
            std::size_t scaling) {
  const PrecisionTarget& target = *experiment.stop;
  const Formula& logit = experiment.scalings[scaling].logit;
  const Moments& group = moments[group_of(experiment, scaling, *target.metric)];
  const Estimate estimate = metric_estimate(*target.metric, group, power_scale(logit, cell.draw));
  if (!std::isfinite(estimate.value)) return false;
  if (moments_known(*target.metric, cell.draw, logit) != MomentsKnown::kAll) return false;
  // A fraction of 0 or 1 has an interval too.
  if (!target.metric->is_fraction && !(estimate.std_error > 0)) return false;
  const double allowed = target.absolute_error ? *target.absolute_error
                                               : *target.relative_error * std::abs(estimate.value);
  return half_width(target, estimate, group.count) <= allowed;
}

}  // namespace

std::int64_t look_from(const Cell& cell, const PrecisionTarget& target, std::int64_t blocks) {
  const std::int64_t least = (target.min_queries - 1) / cell.block_queries + 1;
  const auto wanted = static_cast<std::uint64_t>(std::max({blocks, least, std::int64_t{1}}));
  return std::min(static_cast<std::int64_t>(std::bit_ceil(wanted)), cell.blocks);
}

bool can_end_with(const Cell& cell, const PrecisionTarget& target, std::int64_t queries) {
  if (queries == cell.queries) return true;
  const std::int64_t blocks = queries / cell.block_queries;
  return queries > 0 && queries < cell.queries && queries % cell.block_queries == 0 &&
         look_from(cell, target, blocks) == blocks;
}

bool meets_target(const Experiment& experiment, const Cell& cell, const CellMoments& moments) {
  for (std::size_t s = 0; s < experiment.scalings.size(); ++s) {
    const bool counts = is_about(*experiment.stop, experiment.scalings[s].name);
    if (counts && !is_met(experiment, cell, moments, s)) return false;
  }
  return true;
}

void mark_target(const Experiment& experiment, const Cell& cell, const CellMoments& moments,
                 std::vector<ResultRow>& rows) {
  if (!experiment.stop) return;
  const std::size_t metrics = experiment.metrics.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool counts = rows[i].metric == experiment.stop->metric->name &&
                        is_about(*experiment.stop, rows[i].key.scaling);
    constexpr std::array kJudged{LineStatus::kOk, LineStatus::kRare, LineStatus::kSomeNonfinite};
    if (!counts || std::ranges::find(kJudged, rows[i].status) == kJudged.end()) continue;
    rows[i].status = is_met(experiment, cell, moments, i / metrics) ? LineStatus::kConverged
                                                                    : LineStatus::kMaxQueries;
  }
}

bool misses_target(const Experiment& experiment, const ResultRow& row) {
  return experiment.stop && row.metric == experiment.stop->metric->name &&
         is_about(*experiment.stop, row.key.scaling) && row.status != LineStatus::kConverged;
}

}  // namespace attnscale
