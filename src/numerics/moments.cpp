#include "numerics/moments.h"

#include <array>
#include <utility>

namespace attnscale {
namespace {

// Sums in eight interleaved parts, added in pairs: the compiler may use vectors of any width up to
// eight without changing the order.
template <typename Term>
double sum_of(std::size_t n, const Term& term) {
  std::array<double, 8> part{};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane) part[lane] += term(i + lane);
  }
  for (std::size_t lane = 0; i < n; ++i, ++lane) part[lane] += term(i);
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

// Place of (i, j), i <= j, in the upper triangle stored row by row.
std::size_t triangle_index(std::size_t dimension, std::size_t i, std::size_t j) {
  return i * dimension - i * (i + 1) / 2 + j;
}

}  // namespace

double Moments::central_sum(std::size_t i, std::size_t j) const {
  if (i > j) std::swap(i, j);
  return central[triangle_index(dimension(), i, j)];
}

double Moments::covariance(std::size_t i, std::size_t j) const {
  return central_sum(i, j) / static_cast<double>(count - 1);
}

Moments moments_of(std::span<const std::span<const double>> columns) {
  const std::size_t n = columns.front().size();
  Moments moments;
  moments.count = static_cast<std::int64_t>(n);
  for (const auto column : columns) {
    moments.mean.push_back(sum_of(n, [&](std::size_t k) { return column[k]; }) /
                           static_cast<double>(n));
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t j = i; j < columns.size(); ++j) {
      moments.central.push_back(sum_of(n, [&](std::size_t k) {
        return (columns[i][k] - moments.mean[i]) * (columns[j][k] - moments.mean[j]);
      }));
    }
  }
  return moments;
}

Moments merge(const Moments& earlier, const Moments& later) {
  if (earlier.count == 0) return later;
  if (later.count == 0) return earlier;
  const std::size_t dimension = earlier.dimension();
  const auto n_earlier = static_cast<double>(earlier.count);
  const auto n_later = static_cast<double>(later.count);
  const double total = n_earlier + n_later;

  Moments merged;
  merged.count = earlier.count + later.count;
  for (std::size_t i = 0; i < dimension; ++i) {
    const double shift = later.mean[i] - earlier.mean[i];
    merged.mean.push_back(earlier.mean[i] + shift * (n_later / total));
  }
  for (std::size_t i = 0; i < dimension; ++i) {
    for (std::size_t j = i; j < dimension; ++j) {
      const double shift_i = later.mean[i] - earlier.mean[i];
      const double shift_j = later.mean[j] - earlier.mean[j];
      const std::size_t place = triangle_index(dimension, i, j);
      merged.central.push_back((earlier.central[place] + later.central[place]) +
                               shift_i * shift_j * (n_earlier * (n_later / total)));
    }
  }
  return merged;
}

}  // namespace attnscale
