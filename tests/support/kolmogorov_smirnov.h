// Kolmogorov-Smirnov statistics, scaled so that for large samples P(statistic > x) tends to
// 2 exp(-2 x^2): kOneInAMillion is exceeded by chance with probability 1e-6.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace attnscale::testing_statistics {

inline constexpr double kOneInAMillion = 2.694;

/// sqrt(n) sup |F_n - F| of a sample against a continuous distribution function.
template <typename Distribution>
double kolmogorov_smirnov(std::vector<double> sample, const Distribution& distribution) {
  std::ranges::sort(sample);
  const auto n = static_cast<double>(sample.size());
  double largest = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double f = distribution(sample[i]);
    const auto below = static_cast<double>(i);
    largest = std::max({largest, f - below / n, (below + 1) / n - f});
  }
  return std::sqrt(n) * largest;
}

/// sqrt(n m / (n + m)) sup |F_n - G_m| of two samples; with ties the probability is less.
inline double kolmogorov_smirnov(std::vector<double> a, std::vector<double> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  double largest = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double x = std::min(a[i], b[j]);
    while (i < a.size() && a[i] == x) ++i;
    while (j < b.size() && b[j] == x) ++j;
    largest = std::max(largest, std::abs(static_cast<double>(i) / n - static_cast<double>(j) / m));
  }
  return std::sqrt(n * m / (n + m)) * largest;
}

/// Distribution function of the standard normal law.
inline double normal_distribution(double x) {
  return std::erfc(-x / std::sqrt(2.0)) / 2;
}

}  // namespace attnscale::testing_statistics
