#include "estimate/reference_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "estimate/interval.h"
#include "estimate/stop_rule.h"
#include "experiment/metric.h"
#include "experiment/scaling.h"
#include "numerics/portable_math.h"
#include "numerics/quantiles.h"
#include "theory/exact_means_table.h"

namespace attnscale {
namespace {

constexpr std::size_t kWorstShown = 5;

// For numbers that are 0 or 1 a standard error that does not rest on the queries: if events are
// rare they may have seen none.
double error_of(const MetricRow& metric, const ResultRow& row) {
  if (!metric.is_fraction) return row.std_error.value_or(0);
  const double fraction = *row.reference;
  return std::sqrt(fraction * (1 - fraction) / static_cast<double>(row.queries));
}

double allowance(const MetricRow& metric, double reference) {
  constexpr double kMoments = 1e-8;  // closed formulas, but under a soft-cap integrals
  if (metric.kind != MetricKind::kPerQuery) return kMoments * std::abs(reference);
  const double error = kExactError * std::max(metric.exact_unit, std::abs(reference));
  return metric.is_root_mean_square ? error / (2 * reference) : error;
}

double queries_behind(double queries, double mean, double sd) {
  if (sd == 0) return queries;
  return mean == 0 ? 0 : queries / (1 + (sd / mean) * (sd / mean));
}

bool decides(const MetricRow& metric, const ResultRow& row, double supporting) {
  if (metric.kind == MetricKind::kLogitKurtosis && row.queries < kLeastForKurtosis) return false;
  if (supporting < kLeastSupporting) return false;
  if (error_of(metric, row) > 0) return true;
  // What varied without an error bar has no moments for one to rest on.
  if (!metric.is_fraction && row.status != LineStatus::kDegenerate) return false;
  // Nothing varied. A metric of known ends whose mean is off by this much would have; what rare
  // scores could make large may not have been seen.
  const bool has_ends = metric.kind == MetricKind::kPerQuery &&
                        (metric.axis == HistogramAxis::kUnit || metric.axis == HistogramAxis::kSum);
  if (!has_ends) return false;
  constexpr double kSure = 100;
  const double off = std::abs(*row.estimate - *row.reference);
  if (off <= allowance(metric, *row.reference)) return true;
  return off * static_cast<double>(row.queries) > kSure * std::max(1.0, std::abs(*row.reference));
}

// How the factor of a scaling at size d contradicts its name; empty if it does not, or if the table
// has no such name.
std::string fault_of_name(const Scaling& scaling, std::int64_t d) {
  constexpr double kRounding = 1e-12;
  const auto size = static_cast<double>(d);
  double named = 1;
  if (scaling.name == "div_sqrt_d") {
    named = 1 / std::sqrt(size);
  } else if (scaling.name == "div_d") {
    named = 1 / size;
  } else if (scaling.name != "none") {
    return "";
  }
  const double used = FormulaProgram(scaling.logit, {size}).factor().value_or(kNan);
  if (std::abs(used - named) <= kRounding * named) return "";
  return fmt::format("multiplies scores by {:f} at d={}, its name says {:f}", used, d, named);
}

// |estimate - reference| beyond the reference's own error, in standard errors.
double distance(const MetricRow& metric, const ResultRow& row) {
  const double off = std::abs(*row.estimate - *row.reference);
  const double beyond = std::max(0.0, off - allowance(metric, *row.reference));
  return beyond == 0 ? 0 : beyond / error_of(metric, row);
}

double bound(double supporting, std::int64_t lines) {
  constexpr double kPerDegree = 30;
  const double level = 1 / (kRunsPerFalseAlarm * static_cast<double>(lines) * 2);
  return -student_quantile(std::max(1.0, supporting / kPerDegree), level);
}

// What cells with one kind of draw have in common.
ResultKey without_scaling(ResultKey key) {
  key.scaling.clear();
  key.scaling_value.reset();
  return key;
}

// The kurtosis of the scores of every cell.
std::map<ResultKey, double> score_kurtoses(const Plan& plan) {
  std::map<ResultKey, double> kurtoses;
  for (const Cell& cell : plan.cells) {
    const Draw& draw = cell.draw;
    kurtoses[key_of(plan, cell, {})] = score_moments(draw.entries, draw.d, draw.keys).kurtosis;
  }
  return kurtoses;
}

}  // namespace

double supporting_queries(const ResultRow& row, double kurtosis) {
  const auto queries = static_cast<double>(row.queries);
  const MetricRow* metric = find_metric(row.metric);
  if (metric == nullptr || !row.reference) return queries;
  const double mean = *row.reference;
  if (metric->kind != MetricKind::kPerQuery) {
    if (metric->kind == MetricKind::kLogitMean) return queries;
    // Twice the relative error of a spread is that of the mean square.
    const double power = metric->kind == MetricKind::kLogitSd ? 2 : 1;
    const double seen =
        queries_behind(queries, mean, power * row.std_error.value_or(0) * std::sqrt(queries));
    const double scores = queries * static_cast<double>(row.key.keys);
    return std::isnan(kurtosis) ? seen : std::min(seen, scores / kurtosis);
  }
  const double sd = metric->is_fraction ? std::sqrt(mean * (1 - mean)) : row.sd.value_or(0);
  const double from_zero = queries_behind(queries, mean, sd);
  const bool ends_at_one = metric->complement || metric->is_fraction;
  const double seen =
      ends_at_one ? std::min(from_zero, queries_behind(queries, 1 - mean, sd)) : from_zero;
  return std::min(seen, row.carrying.value_or(queries));
}

ReferenceCheck check_estimates(const Plan& plan, const std::vector<ResultRow>& rows) {
  const auto kurtoses = score_kurtoses(plan);
  ReferenceCheck check;
  for (const ResultRow& row : rows) {
    const MetricRow* metric = find_metric(row.metric);
    if (metric == nullptr || !row.reference || !row.estimate || row.left_out > 0) continue;
    ++check.lines;
    const auto kurtosis = kurtoses.find(without_scaling(row.key));
    const double supporting = supporting_queries(row, kurtosis == kurtoses.end()
                                                          ? std::numeric_limits<double>::quiet_NaN()
                                                          : kurtosis->second);
    const CheckedLine line{row, supporting, distance(*metric, row), 0};
    if (decides(*metric, row, supporting)) {
      check.worst.push_back(line);
      continue;
    }
    ++check.undecided;
    const bool has_error = row.std_error.value_or(0) > 0;
    if (metric->kind == MetricKind::kPerQuery || !has_error || line.distance <= kMisjudged)
      continue;
    ++check.misjudged;
    if (!check.most_misjudged || line.distance > check.most_misjudged->distance) {
      check.most_misjudged = line;
    }
  }
  for (CheckedLine& line : check.worst) {
    line.bound = bound(line.supporting, check.lines - check.undecided);
    if (line.distance > line.bound) ++check.beyond;
  }
  std::stable_sort(check.worst.begin(), check.worst.end(), [](const auto& a, const auto& b) {
    return a.distance / a.bound > b.distance / b.bound;
  });
  if (check.worst.size() > kWorstShown) check.worst.resize(kWorstShown);
  return check;
}

std::string describe_line(const ResultRow& row) {
  const ResultKey& key = row.key;
  const std::string entries = name_with_value(key.entries, key.entries_value);
  return fmt::format("{} of {}{} keys={}{} under {}", row.metric, key.experiment,
                     key.d ? fmt::format(" at d={}", *key.d) : "", key.keys,
                     key.entries.empty() ? "" : fmt::format(" ({})", entries),
                     name_with_value(key.scaling, key.scaling_value));
}

std::string check_queries(const Experiment& experiment, const Cell& cell, const ResultRow& row) {
  const std::int64_t queries = row.queries + row.left_out;
  const std::string fault =
      fmt::format("has {} queries; the config asks for {}", queries, cell.queries);
  if (!experiment.stop) return queries == cell.queries ? "" : fault;
  if (!can_end_with(cell, *experiment.stop, queries)) {
    return fault + ", or for those of a look at its target";
  }
  const bool missed = row.status == LineStatus::kMaxQueries && queries != cell.queries;
  return missed ? fault + " where the target is not met" : "";
}

std::vector<std::string> check_scaling_names(const Config& config) {
  std::vector<std::string> faults;
  for (const Experiment& experiment : config.experiments) {
    for (const std::int64_t d : experiment.d) {
      for (const Scaling& scaling : experiment.scalings) {
        const std::string fault = fault_of_name(scaling, d);
        if (!fault.empty()) {
          faults.push_back(
              fmt::format("the scaling {} of {} {}", scaling.name, experiment.name, fault));
        }
      }
    }
  }
  return faults;
}

}  // namespace attnscale
