#include "experiment/estimate.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <span>

namespace attnscale {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Standard error of a function of the mean powers, by its gradient with respect to them.
double delta_error(const Moments& powers, std::size_t first, std::span<const double> gradient) {
  if (powers.count < 2) return kNan;
  double variance = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    for (std::size_t j = 0; j < gradient.size(); ++j) {
      variance += gradient[i] * gradient[j] * powers.covariance(first + i, first + j);
    }
  }
  return std::sqrt(std::max(variance, 0.0) / static_cast<double>(powers.count));
}

// A mean power squared overestimates the square of its expectation by the mean's own variance.
double logit_variance(const Moments& powers, std::size_t first) {
  const double mean = powers.mean[first];
  const double bias =
      powers.count < 2 ? 0 : powers.covariance(first, first) / static_cast<double>(powers.count);
  return powers.mean[first + 1] - mean * mean + bias;
}

void fill_reference(std::optional<double> reference, ResultRow& row) {
  row.reference = reference;
  if (row.reference && row.estimate && row.std_error) {
    row.z = (*row.estimate - *row.reference) / *row.std_error;
  }
}

void fill_estimate(const Estimate& estimate, ResultRow& row) {
  if (!std::isfinite(estimate.value)) {
    row.status = estimate.std_error == 0 ? "degenerate" : "nonfinite";
    return;
  }
  row.estimate = estimate.value;
  if (!(estimate.std_error > 0)) {
    row.status = "degenerate";
    return;
  }
  row.status = "ok";
  row.std_error = estimate.std_error;
  const double half_width = student_quantile(row.queries) * estimate.std_error;
  row.ci_low = estimate.value - half_width;
  row.ci_high = estimate.value + half_width;
}

void fill_fraction(double fraction, ResultRow& row) {
  row.status = "ok";
  row.estimate = fraction;
  const Interval interval = wilson_interval(fraction, row.queries);
  row.ci_low = interval.low;
  row.ci_high = interval.high;
  if (fraction > 0 && fraction < 1) {
    row.std_error = std::sqrt(fraction * (1 - fraction) / static_cast<double>(row.queries));
  }
}

void fill_distribution(const Moments& moments, const MetricCounts& counts, ResultRow& row) {
  if (moments.count >= 2) row.sd = std::sqrt(moments.covariance(0, 0));
  row.min = counts.min;
  row.max = counts.max;
  const auto quantile = [&](double q) -> std::optional<double> {
    const auto value = counts.sketch.quantile(q);
    if (!value) return std::nullopt;
    return std::clamp(*value, counts.min, counts.max);
  };
  row.q05 = quantile(0.05);
  row.median = quantile(0.5);
  row.q95 = quantile(0.95);
}

void fill_logit_statistic(const MetricRow& metric, const Scaling& scaling, const Draw& draw,
                          const Moments& powers, std::size_t first, ResultRow& row) {
  if (metric.name == "logit_mean") {
    fill_estimate(logit_mean(powers, first, logit_centre(scaling, draw)), row);
  } else if (metric.name == "logit_sd") {
    fill_estimate(logit_sd(powers, first), row);
  } else {
    fill_estimate(logit_kurtosis(powers, first), row);
  }
}

void fill_per_query(const MetricRow& metric, const Moments& moments, const MetricCounts& counts,
                    ResultRow& row) {
  const double mean = moments.mean[0];
  if (metric.is_fraction && std::isfinite(mean)) {
    fill_fraction(mean, row);
  } else {
    const double variance = moments.count < 2 ? kNan : moments.covariance(0, 0);
    fill_estimate({mean, std::sqrt(variance / static_cast<double>(moments.count))}, row);
  }
  if (row.status != "nonfinite") fill_distribution(moments, counts, row);
}

ResultRow start_row(const Config& config, const Cell& cell, const Scaling& scaling) {
  ResultRow row;
  row.key = key_of(config, cell, scaling);
  return row;
}

}  // namespace

Estimate logit_mean(const Moments& powers, std::size_t first, double centre) {
  const std::array gradient{1.0};
  return {centre + powers.mean[first], delta_error(powers, first, gradient)};
}

Estimate logit_sd(const Moments& powers, std::size_t first) {
  if (powers.count < 2) return {kNan, 0};
  const double variance = logit_variance(powers, first);
  const double sd = std::sqrt(variance < 0 ? 0 : variance);
  const std::array gradient{-powers.mean[first] / sd, 1 / (2 * sd)};
  return {sd, sd == 0 ? 0 : delta_error(powers, first, gradient)};
}

Estimate logit_kurtosis(const Moments& powers, std::size_t first) {
  if (powers.count < 2) return {kNan, 0};
  const double a1 = powers.mean[first];
  const double a2 = powers.mean[first + 1];
  const double a3 = powers.mean[first + 2];
  const double a4 = powers.mean[first + 3];
  const double m2 = a2 - a1 * a1;
  const double m4 = a4 - 4 * a1 * a3 + 6 * a1 * a1 * a2 - 3 * a1 * a1 * a1 * a1;
  if (m2 == 0) return {kNan, 0};
  const double kurtosis = m4 / (m2 * m2);
  // d kurtosis = d m4 / m2^2 - 2 kurtosis d m2 / m2, with d m2 = d a2 - 2 a1 d a1.
  const double per_m4 = 1 / (m2 * m2);
  const double per_m2 = -2 * kurtosis / m2;
  const std::array gradient{
      per_m4 * (-4 * a3 + 12 * a1 * a2 - 12 * a1 * a1 * a1) + per_m2 * (-2 * a1),
      per_m4 * 6 * a1 * a1 + per_m2, per_m4 * -4 * a1, per_m4};
  return {kurtosis, delta_error(powers, first, gradient)};
}

double student_quantile(std::int64_t queries) {
  const boost::math::students_t distribution(static_cast<double>(queries - 1));
  return boost::math::quantile(distribution, 0.975);
}

Interval wilson_interval(double fraction, std::int64_t queries) {
  constexpr double kNormalQuantile = 1.959963984540054;
  const auto n = static_cast<double>(queries);
  const double z2 = kNormalQuantile * kNormalQuantile;
  const double middle = (fraction + z2 / (2 * n)) / (1 + z2 / n);
  const double half =
      kNormalQuantile / (1 + z2 / n) * std::sqrt(fraction * (1 - fraction) / n + z2 / (4 * n * n));
  return {fraction == 0 ? 0 : middle - half, fraction == 1 ? 1 : middle + half};
}

std::vector<ResultRow> estimate_cell(const Config& config, const Cell& cell, const CellTally& tally,
                                     ExactValues& exact) {
  const Experiment& experiment = config.experiments[cell.experiment];
  const std::size_t per_query_count = per_query_metrics(experiment).size();
  std::vector<ResultRow> rows;
  for (std::size_t s = 0; s < experiment.scalings.size(); ++s) {
    const Scaling& scaling = experiment.scalings[s];
    const std::vector<std::optional<double>> references = exact.of(experiment, cell, scaling);
    std::size_t per_query = 0;
    for (std::size_t m = 0; m < experiment.metrics.size(); ++m) {
      const MetricRow* metric = experiment.metrics[m];
      ResultRow row = start_row(config, cell, scaling);
      row.metric = metric->name;
      if (metric->kind == MetricKind::kLogitStatistic) {
        const Moments& powers = tally.moments[logit_group(experiment, s)];
        row.queries = powers.count;
        const auto first = static_cast<std::size_t>(s > 0 ? logit_powers(experiment) : 0);
        fill_logit_statistic(*metric, scaling, cell.draw, powers, first, row);
      } else {
        const Moments& moments = tally.moments[metric_group(experiment, s, per_query)];
        row.queries = moments.count;
        fill_per_query(*metric, moments, tally.counts.metrics[s * per_query_count + per_query],
                       row);
        ++per_query;
      }
      fill_reference(references[m], row);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace attnscale
