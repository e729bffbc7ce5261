#include "estimate/logit_statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "numerics/portable_math.h"

namespace attnscale {
namespace {

// A function of one scaling's mean powers, and its gradient with respect to them.
struct PowerFunction {
  double value;
  std::vector<double> gradient;  // of the first, second, ... power; empty where nothing varied
  double unit = 1;               // of the gradient
};

// Where the powers of one scaling are in their group, and what they were taken of.
struct Powers {
  std::size_t first;
  PowerScale scale;
};

PowerFunction mean_function(const Moments& powers, const Powers& place) {
  const auto& [centre, unit] = place.scale;
  return {centre + powers.mean[place.first] * unit, {1}, unit};
}

// Of a number and its square.
PowerFunction root_mean_square_function(const Moments& powers, const Powers& place) {
  const double root = std::sqrt(powers.mean[place.first + 1]);
  if (root == 0) return {root, {}};
  return {root, {0, 1 / (2 * root)}};
}

// A mean power squared overestimates the square of its expectation by the mean's own variance.
PowerFunction sd_function(const Moments& powers, const Powers& place) {
  if (powers.count < 2) return {kNan, {}};
  const double mean = powers.mean[place.first];
  const double bias =
      powers.covariance(place.first, place.first) / static_cast<double>(powers.count);
  const double variance = powers.mean[place.first + 1] - mean * mean + bias;
  const double sd = std::sqrt(variance < 0 ? 0 : variance);
  if (sd == 0) return {sd, {}};
  const double unit = place.scale.unit;
  return {sd * unit, {-mean / sd, 1 / (2 * sd)}, unit};
}

PowerFunction kurtosis_function(const Moments& powers, const Powers& place) {
  if (powers.count < 2) return {kNan, {}};
  const double a1 = powers.mean[place.first];
  const double a2 = powers.mean[place.first + 1];
  const double a3 = powers.mean[place.first + 2];
  const double a4 = powers.mean[place.first + 3];
  const double m2 = a2 - a1 * a1;
  const double m4 = a4 - 4 * a1 * a3 + 6 * a1 * a1 * a2 - 3 * a1 * a1 * a1 * a1;
  if (m2 == 0) return {kNan, {}};
  const double kurtosis = m4 / (m2 * m2);
  // d kurtosis = d m4 / m2^2 - 2 kurtosis d m2 / m2, with d m2 = d a2 - 2 a1 d a1.
  const double per_m4 = 1 / (m2 * m2);
  const double per_m2 = -2 * kurtosis / m2;
  return {kurtosis,
          {per_m4 * (-4 * a3 + 12 * a1 * a2 - 12 * a1 * a1 * a1) + per_m2 * (-2 * a1),
           per_m4 * 6 * a1 * a1 + per_m2, per_m4 * -4 * a1, per_m4}};
}

PowerFunction function_of(const MetricRow& metric, const Moments& powers, const Powers& place) {
  if (metric.kind == MetricKind::kPerQuery) return root_mean_square_function(powers, place);
  if (metric.kind == MetricKind::kLogitMean) return mean_function(powers, place);
  if (metric.kind == MetricKind::kLogitSd) return sd_function(powers, place);
  return kurtosis_function(powers, place);
}

// Standard error of a function of all mean powers of the group, by its gradient.
double delta_error(const Moments& powers, const std::vector<double>& gradient) {
  if (powers.count < 2) return kNan;
  // What is left where the terms cancel to this share of their size is rounding: the kurtosis of
  // scores and of scores times a constant are the same.
  constexpr double kRounding = 1e-12;
  double variance = 0;
  double size = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    if (gradient[i] == 0) continue;
    for (std::size_t j = 0; j < gradient.size(); ++j) {
      // The other powers may have overflowed, and 0 times NaN is NaN.
      if (gradient[j] == 0) continue;
      const double term = gradient[i] * gradient[j] * powers.covariance(i, j);
      variance += term;
      size += std::abs(term);
    }
  }
  // Written so that NaN stays NaN.
  if (variance <= kRounding * size) return 0;
  return std::sqrt(variance / static_cast<double>(powers.count));
}

void add_gradient(const PowerFunction& function, std::size_t first, double factor,
                  std::vector<double>& gradient) {
  for (std::size_t i = 0; i < function.gradient.size(); ++i) {
    gradient[first + i] += factor * function.gradient[i];
  }
}

// The first order of a spread's error is 0 where all logits are one number or its negative: what is
// left is that of the mean's square, a share of 1 / (2 n) of the spread.
double second_order(const MetricRow& metric, double value, const Moments& powers) {
  if (metric.kind != MetricKind::kLogitSd) return 0;
  return std::abs(value) / (2 * static_cast<double>(powers.count));
}

bool is_mean(const MetricRow& metric) {
  return metric.kind == MetricKind::kPerQuery && !metric.is_root_mean_square;
}

Estimate mean_estimate(const Moments& moments) {
  return {moments.mean[0], moments.count < 2 ? kNan : moments.error_of_mean(0)};
}

// The larger of the two; NaN stays NaN.
double at_least(double least, double error) {
  return error < least ? least : error;
}

}  // namespace

Estimate metric_estimate(const MetricRow& metric, const Moments& moments, const PowerScale& scale) {
  if (is_mean(metric)) return mean_estimate(moments);
  const PowerFunction function = function_of(metric, moments, {0, scale});
  const double least = second_order(metric, function.value, moments);
  if (function.gradient.empty()) return {function.value, at_least(least, 0)};
  const double error = delta_error(moments, function.gradient);
  return {function.value, at_least(least, error * function.unit)};
}

Estimate metric_contrast(const MetricRow& metric, const Moments& moments, const PowerScale& scaling,
                         const PowerScale& baseline) {
  if (is_mean(metric)) return mean_estimate(moments);
  const Powers of_scaling{moments.dimension() / 2, scaling};
  const Powers of_baseline{0, baseline};
  const PowerFunction own = function_of(metric, moments, of_scaling);
  const PowerFunction base = function_of(metric, moments, of_baseline);
  std::vector<double> gradient(moments.dimension());
  const double unit = std::max(own.unit, base.unit);
  add_gradient(own, of_scaling.first, own.unit / unit, gradient);
  add_gradient(base, of_baseline.first, -base.unit / unit, gradient);
  const double value = own.value - base.value;
  const double error = delta_error(moments, gradient) * unit;
  return {value, at_least(second_order(metric, value, moments), error)};
}

}  // namespace attnscale
