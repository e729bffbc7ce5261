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

PowerFunction mean_function(const Moments& powers, const LogitPowers& place) {
  const auto& [centre, unit] = place.scale;
  return {centre + powers.mean[place.first] * unit, {1}, unit};
}

// A mean power squared overestimates the square of its expectation by the mean's own variance.
PowerFunction sd_function(const Moments& powers, const LogitPowers& place) {
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

PowerFunction kurtosis_function(const Moments& powers, const LogitPowers& place) {
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

PowerFunction function_of(const MetricRow& metric, const Moments& powers,
                          const LogitPowers& place) {
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
      // The other powers may be a baseline's that overflowed, and 0 times NaN is NaN.
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

// The larger of the two; NaN stays NaN.
double at_least(double least, double error) {
  return error < least ? least : error;
}

}  // namespace

Estimate mean_estimate(const Moments& moments, std::size_t column) {
  return {moments.mean[column], moments.count < 2 ? kNan : moments.error_of_mean(column)};
}

Estimate metric_estimate(const MetricRow& metric, const Moments& moments,
                         const LogitPowers& place) {
  if (metric.kind == MetricKind::kPerQuery) return mean_estimate(moments, 0);
  const PowerFunction function = function_of(metric, moments, place);
  const double least = second_order(metric, function.value, moments);
  if (function.gradient.empty()) return {function.value, at_least(least, 0)};
  std::vector<double> gradient(moments.dimension());
  add_gradient(function, place.first, 1, gradient);
  return {function.value, at_least(least, delta_error(moments, gradient) * function.unit)};
}

Estimate logit_contrast(const MetricRow& metric, const Moments& powers, const LogitPowers& scaling,
                        const LogitPowers& baseline) {
  const PowerFunction own = function_of(metric, powers, scaling);
  const PowerFunction base = function_of(metric, powers, baseline);
  std::vector<double> gradient(powers.dimension());
  const double unit = std::max(own.unit, base.unit);
  add_gradient(own, scaling.first, own.unit / unit, gradient);
  add_gradient(base, baseline.first, -base.unit / unit, gradient);
  const double value = own.value - base.value;
  const double error = delta_error(powers, gradient) * unit;
  return {value, at_least(second_order(metric, value, powers), error)};
}

}  // namespace attnscale
