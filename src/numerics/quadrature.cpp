#include "numerics/quadrature.h"

#include <algorithm>
#include <cmath>

#include "numerics/portable_math.h"

namespace attnscale {

QuadratureRule gauss_legendre(int points) {
  QuadratureRule rule;
  for (int i = 0; 2 * i < points; ++i) {
    // Newton's method on the Legendre polynomial, from Tricomi's first guess.
    constexpr int kMostSteps = 8;
    constexpr double kClose = 1e-15;  // the derivative is that before the last move
    double x = -plain::cos_pi((i + 0.75) / (points + 0.5));
    double derivative = 0;
    double move = 1;
    for (int step = 0; step < kMostSteps && std::abs(move) > kClose; ++step) {
      double previous = 1;
      double value = x;
      for (int k = 2; k <= points; ++k) {
        const double next = ((2 * k - 1) * x * value - (k - 1) * previous) / k;
        previous = value;
        value = next;
      }
      derivative = points * (x * value - previous) / (x * x - 1);
      move = value / derivative;
      x -= move;
    }
    rule.add(x, 2 / ((1 - x * x) * derivative * derivative));
  }
  // The other half is its mirror image.
  for (std::size_t i = static_cast<std::size_t>(points / 2); i-- > 0;) {
    rule.add(-rule.node[i], rule.weight[i]);
  }
  return rule;
}

QuadratureRule chi_rule(double d, int halvings) {
  // With r = sqrt(d) e^y the density in y is proportional to exp(-d/2 (e^2y - 1 - 2y)): analytic,
  // and gone at both ends, so that equal steps converge faster than any power of the step.
  constexpr double kLogNothing = -35;
  const double step = std::ldexp(std::min(0.14, 0.7 / std::sqrt(2 * d)), -halvings);
  const auto log_density = [d](double y) { return -0.5 * d * (plain::expm1(2 * y) - 2 * y); };
  const auto first = [&] {
    std::int64_t k = 0;
    while (log_density(static_cast<double>(k - 1) * step) > kLogNothing) --k;
    return k;
  }();
  QuadratureRule rule;
  double total = 0;
  for (std::int64_t k = first;; ++k) {
    const double y = static_cast<double>(k) * step;
    const double log_weight = log_density(y);
    if (k > 0 && log_weight < kLogNothing) break;
    rule.add(std::sqrt(d) * plain::exp(y), plain::exp(log_weight));
    total += rule.weight.back();
  }
  for (double& weight : rule.weight) weight /= total;
  return rule;
}

std::vector<double> chebyshev_points(int points) {
  std::vector<double> nodes;
  nodes.reserve(static_cast<std::size_t>(points));
  for (int i = 0; i < points; ++i) nodes.push_back(plain::cos_pi((i + 0.5) / points));
  return nodes;
}

std::vector<double> chebyshev_coefficients(std::span<const double> values) {
  const auto n = static_cast<int>(values.size());
  const std::vector<double> nodes = chebyshev_points(n);
  std::vector<double> coefficients(values.size(), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    // T_k(x) by its recurrence.
    double previous = 1;
    double current = nodes[i];
    for (std::size_t k = 0; k < values.size(); ++k) {
      coefficients[k] += previous * values[i] * (k == 0 ? 1.0 : 2.0) / n;
      const double next = 2 * nodes[i] * current - previous;
      previous = current;
      current = next;
    }
  }
  return coefficients;
}

double chebyshev_value(std::span<const double> coefficients, double x) {
  double later = 0;
  double latest = 0;
  for (std::size_t k = coefficients.size(); k-- > 1;) {
    const double current = 2 * x * latest - later + coefficients[k];
    later = latest;
    latest = current;
  }
  return x * latest - later + coefficients[0];
}

}  // namespace attnscale
