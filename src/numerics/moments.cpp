#include "numerics/moments.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "numerics/column.h"
#include "numerics/unit.h"

namespace attnscale {
namespace {

// Joins terms, starting at 0, in eight interleaved parts, and these in pairs: the
// compiler may use vectors of any width up to eight without changing the order.
template <typename Term, typename Join>
double fold_of(std::size_t n, const Term& term, const Join& join) {
  std::array<double, 8> part{};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane) part[lane] = join(part[lane], term(i + lane));
  }
  for (std::size_t lane = 0; i < n; ++i, ++lane) part[lane] = join(part[lane], term(i));
  return join(join(join(part[0], part[4]), join(part[2], part[6])),
              join(join(part[1], part[5]), join(part[3], part[7])));
}

template <typename Term>
double sum_of(std::size_t n, const Term& term) {
  return fold_of(n, term, std::plus<>());
}

// Place of (i, j), i <= j, in the upper triangle stored row by row.
std::size_t triangle_index(std::size_t dimension, std::size_t i, std::size_t j) {
  return i * dimension - i * (i + 1) / 2 + j;
}

// The unit that a number of this size needs: most need none.
double needed_unit(double size) {
  constexpr double kLarge = 0x1p300;
  const double absolute = std::abs(size);
  return absolute > 1 / kLarge && absolute < kLarge ? 1 : unit_of(size);
}

// The largest size among the numbers that are not NaN.
double largest_of(std::span<const double> numbers) {
  return fold_of(
      numbers.size(), [&](std::size_t k) { return std::abs(numbers[k]); },
      [](double a, double b) { return a < b ? b : a; });
}

}  // namespace

double Moments::central_sum(std::size_t i, std::size_t j) const {
  if (i > j) std::swap(i, j);
  return central[triangle_index(dimension(), i, j)] * unit[i] * unit[j];
}

double Moments::covariance(std::size_t i, std::size_t j) const {
  return central_sum(i, j) / static_cast<double>(count - 1);
}

double Moments::sd(std::size_t i) const {
  return std::sqrt(variance_in_unit(i)) * unit[i];
}

double Moments::error_of_mean(std::size_t i) const {
  return std::sqrt(variance_in_unit(i) / static_cast<double>(count)) * unit[i];
}

double Moments::variance_in_unit(std::size_t i) const {
  return central[triangle_index(dimension(), i, i)] / static_cast<double>(count - 1);
}

std::vector<double> Moments::central_in(const std::vector<double>& larger) const {
  std::vector<double> sums = central;
  for (std::size_t i = 0; i < dimension(); ++i) {
    for (std::size_t j = i; j < dimension(); ++j) {
      sums[triangle_index(dimension(), i, j)] *= (unit[i] / larger[i]) * (unit[j] / larger[j]);
    }
  }
  return sums;
}

Moments moments_of(std::span<const std::span<const double>> columns) {
  const std::size_t n = columns.front().size();
  Moments moments;
  moments.count = static_cast<std::int64_t>(n);
  std::vector<std::vector<double>> deviations;
  for (const auto column : columns) {
    const double mean =
        sum_of(n, [&](std::size_t k) { return column[k]; }) / static_cast<double>(n);
    std::vector<double>& deviation = deviations.emplace_back(column.begin(), column.end());
    for (double& number : deviation) number -= mean;
    const double unit = needed_unit(largest_of(deviation));
    if (unit != 1) {
      for (double& number : deviation) number /= unit;
    }
    moments.mean.push_back(mean);
    moments.unit.push_back(unit);
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t j = i; j < columns.size(); ++j) {
      moments.central.push_back(
          sum_of(n, [&](std::size_t k) { return deviations[i][k] * deviations[j][k]; }));
    }
  }
  return moments;
}

Moments moments_of_finite(std::vector<std::span<const double>> columns, std::size_t step) {
  bool is_finite = true;
  for (std::size_t i = 0; i < columns.size(); i += step) {
    is_finite = is_finite && all_finite(columns[i]);
  }
  if (is_finite) return moments_of(columns);
  const std::size_t n = columns.front().size();
  std::vector<char> keeps(n, 1);
  for (std::size_t i = 0; i < columns.size(); i += step) {
    for (std::size_t k = 0; k < n; ++k) {
      if (!std::isfinite(columns[i][k])) keeps[k] = 0;
    }
  }
  const auto left_out = std::ranges::count(keeps, 0);
  std::vector<std::vector<double>> kept(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      if (keeps[k] != 0) kept[i].push_back(columns[i][k]);
    }
    columns[i] = kept[i];
  }
  Moments moments = moments_of(columns);
  moments.left_out = left_out;
  return moments;
}

Moments merge(const Moments& earlier, const Moments& later) {
  if (earlier.count == 0 || later.count == 0) {
    Moments merged = earlier.count == 0 ? later : earlier;
    merged.left_out = earlier.left_out + later.left_out;
    return merged;
  }
  const std::size_t dimension = earlier.dimension();
  const auto n_earlier = static_cast<double>(earlier.count);
  const auto n_later = static_cast<double>(later.count);
  const double total = n_earlier + n_later;

  Moments merged;
  merged.count = earlier.count + later.count;
  merged.left_out = earlier.left_out + later.left_out;
  std::vector<double> shift;
  for (std::size_t i = 0; i < dimension; ++i) {
    shift.push_back(later.mean[i] - earlier.mean[i]);
    merged.mean.push_back(earlier.mean[i] + shift[i] * (n_later / total));
    merged.unit.push_back(std::max({earlier.unit[i], later.unit[i], needed_unit(shift[i])}));
    shift[i] /= merged.unit[i];
  }
  merged.central = earlier.central_in(merged.unit);
  const std::vector<double> other = later.central_in(merged.unit);
  for (std::size_t i = 0; i < dimension; ++i) {
    for (std::size_t j = i; j < dimension; ++j) {
      const std::size_t place = triangle_index(dimension, i, j);
      merged.central[place] = (merged.central[place] + other[place]) +
                              shift[i] * shift[j] * (n_earlier * (n_later / total));
    }
  }
  return merged;
}

}  // namespace attnscale
