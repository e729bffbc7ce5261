#include "audit/head_fit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "numerics/portable_math.h"

namespace attnscale {
namespace {

// Sums of squares and products of y and up to two x, about the means of each row.
struct Sums {
  double xx = 0, xz = 0, zz = 0, xy = 0, zy = 0, yy = 0;
  double count = 0;  // cells less rows
};

template <typename X, typename Z, typename Y>
Sums centred_sums(const ScoreCells& cells, const X& x, const Z& z, const Y& y) {
  Sums sums;
  for (std::size_t row = 0; row < cells.rows; ++row) {
    const std::size_t begin = row * cells.keys;
    double n = 0, mx = 0, mz = 0, my = 0;
    for (std::size_t i = begin; i < begin + cells.keys; ++i) {
      if (std::isnan(cells.logits[i])) continue;
      ++n;
      mx += x(i);
      mz += z(i);
      my += y(i);
    }
    if (n < 2) continue;
    mx /= n;
    mz /= n;
    my /= n;
    sums.count += n - 1;
    for (std::size_t i = begin; i < begin + cells.keys; ++i) {
      if (std::isnan(cells.logits[i])) continue;
      const double dx = x(i) - mx, dz = z(i) - mz, dy = y(i) - my;
      sums.xx += dx * dx;
      sums.xz += dx * dz;
      sums.zz += dz * dz;
      sums.xy += dx * dy;
      sums.zy += dz * dy;
      sums.yy += dy * dy;
    }
  }
  return sums;
}

double zero(std::size_t) {
  return 0;
}

// The solution of the normal equations of two numbers; the second is 0 where it cannot be told.
struct Step {
  double x, z, error_x, error_z;  // errors for a residual of 1
};

Step solve(const Sums& sums) {
  const double determinant = sums.xx * sums.zz - sums.xz * sums.xz;
  if (!(determinant > 1e-12 * sums.xx * sums.zz)) {
    return {sums.xx > 0 ? sums.xy / sums.xx : 0, 0, 1 / std::sqrt(sums.xx), kInfinity};
  }
  return {(sums.xy * sums.zz - sums.zy * sums.xz) / determinant,
          (sums.zy * sums.xx - sums.xy * sums.xz) / determinant, std::sqrt(sums.zz / determinant),
          std::sqrt(sums.xx / determinant)};
}

LineFit fit_of(const Step& step, const Sums& sums, double squares) {
  LineFit fit;
  fit.residual = sums.count > 0 ? std::sqrt(squares / sums.count) : 0;
  fit.factor = step.x;
  fit.factor_error = sums.xx > 0 ? step.error_x * fit.residual : kInfinity;
  fit.bend_error = std::isfinite(step.error_z) ? step.error_z * fit.residual : kInfinity;
  fit.count = sums.count;
  fit.curvature = sums.xx;
  return fit;
}

// cap tanh(z / cap) and its derivatives by z and by v = 1 / cap^2, which may be below 0.
struct Bent {
  double value, by_z, by_v;
};

// tan by its continued fraction, to 1e-12 below 1.4.
double tangent(double x) {
  double fraction = 0;
  for (int odd = 25; odd >= 1; odd -= 2) fraction = x * x / (odd - fraction);
  return fraction / x;
}

Bent bend(double z, double v) {
  const double power = v * z * z;
  if (std::abs(power) < 1e-3) {
    const double value = z * (1 - power / 3 + 2 * power * power / 15);
    return {value, 1 - v * value * value, z * z * z * (-1.0 / 3 + 4 * power / 15)};
  }
  const double root = std::sqrt(std::abs(v));
  const double value =
      v > 0 ? plain::tanh(z * root) / root : tangent(std::clamp(z * root, -1.4, 1.4)) / root;
  const double by_z = 1 - v * value * value;
  return {value, by_z, (z * by_z - value) / (2 * v)};
}

LineFit fit_straight(const ScoreCells& cells, const std::vector<double>& x) {
  const auto at = [&](std::size_t i) { return x[i]; };
  const auto logit = [&](std::size_t i) { return cells.logits[i]; };
  const Sums sums = centred_sums(cells, at, zero, logit);
  const Step step = solve(sums);
  // The residual itself, as a difference of sums would lose digits.
  const Sums left =
      centred_sums(cells, at, zero, [&](std::size_t i) { return logit(i) - step.x * x[i]; });
  return fit_of(step, sums, left.yy);
}

}  // namespace

PooledFits::PooledFits(const std::vector<LineFit>& fits) {
  for (const LineFit& fit : fits) add(fit);
}

void PooledFits::add(const LineFit& fit) {
  squares_ += fit.residual * fit.residual * fit.count;
  fitted_ += fit.factor * fit.factor * fit.curvature;
  curvature_ += fit.curvature;
  count_ += fit.count;
}

double PooledFits::residual() const {
  return count_ > 0 ? std::sqrt(squares_ / count_) : 0;
}

double PooledFits::spread() const {
  return count_ > 0 ? std::sqrt(fitted_ / count_) : 0;
}

double PooledFits::score_spread() const {
  return count_ > 0 ? std::sqrt(curvature_ / count_) : 0;
}

double median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  const auto middle = numbers.begin() + std::ssize(numbers) / 2;
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

double fitted_logit(const LineFit& fit, const ScoreCells& cells, std::size_t cell) {
  const double x = fit.factor * (fit.of_cosines ? cells.cosines : cells.scores)[cell];
  return bend(x, fit.bend).value + fit.slope * cells.distance[cell];
}

std::vector<double> expected_logits(const LineFit& fit, const ScoreCells& cells) {
  std::vector<double> expected(cells.scores.size());
  for (std::size_t row = 0; row < cells.rows; ++row) {
    const std::size_t begin = row * cells.keys;
    double constant = 0, n = 0;
    for (std::size_t i = begin; i < begin + cells.keys; ++i) {
      expected[i] = fitted_logit(fit, cells, i);
      if (std::isnan(cells.logits[i])) continue;
      constant += cells.logits[i] - expected[i];
      ++n;
    }
    constant = n > 0 ? constant / n : kNan;
    for (std::size_t i = begin; i < begin + cells.keys; ++i) expected[i] += constant;
  }
  return expected;
}

ScoreCells thinned(const ScoreCells& cells, std::size_t most) {
  if (cells.rows * cells.keys <= most) return cells;
  const std::size_t step = cells.rows * cells.keys / most + 1;
  ScoreCells few;
  few.keys = cells.keys;
  for (std::size_t row = cells.rows; row > 0; row -= std::min(step, row)) {
    const auto begin = static_cast<std::ptrdiff_t>((row - 1) * cells.keys);
    const auto end = begin + static_cast<std::ptrdiff_t>(cells.keys);
    const auto copy = [&](const std::vector<double>& from, std::vector<double>& to) {
      to.insert(to.end(), from.begin() + begin, from.begin() + end);
    };
    copy(cells.scores, few.scores);
    copy(cells.logits, few.logits);
    copy(cells.distance, few.distance);
    copy(cells.cosines, few.cosines);
    ++few.rows;
  }
  return few;
}

LineFit fit_line(const ScoreCells& cells) {
  return fit_straight(cells, cells.scores);
}

LineFit fit_cosines(const ScoreCells& cells) {
  LineFit fit = fit_straight(cells, cells.cosines);
  fit.of_cosines = true;
  return fit;
}

LineFit fit_distance(const ScoreCells& cells) {
  const auto at = [&](std::size_t i) { return cells.scores[i]; };
  const auto distance = [&](std::size_t i) { return cells.distance[i]; };
  const auto logit = [&](std::size_t i) { return cells.logits[i]; };
  const Sums sums = centred_sums(cells, at, distance, logit);
  const Step step = solve(sums);
  const Sums left = centred_sums(cells, at, zero, [&](std::size_t i) {
    return logit(i) - step.x * at(i) - step.z * distance(i);
  });
  LineFit fit = fit_of(step, sums, left.yy);
  fit.slope = step.z;
  fit.slope_error = std::isfinite(step.error_z) ? step.error_z * fit.residual : kInfinity;
  return fit;
}

LineFit fit_soft_cap(const ScoreCells& cells, const LineFit& start) {
  double c = start.factor;
  double v = start.bend;
  LineFit best;
  best.residual = kInfinity;
  std::vector<Bent> bent(cells.scores.size());
  constexpr int kMostSteps = 25;
  double scale = 1;
  for (int i = 0; i < kMostSteps; ++i) {
    for (std::size_t k = 0; k < bent.size(); ++k) {
      if (!std::isnan(cells.logits[k])) bent[k] = bend(c * cells.scores[k], v);
    }
    const Sums sums = centred_sums(
        cells, [&](std::size_t k) { return bent[k].by_z * cells.scores[k]; },
        [&](std::size_t k) { return bent[k].by_v; },
        [&](std::size_t k) {
          return cells.logits[k] - bent[k].value - start.slope * cells.distance[k];
        });
    const Step step = solve(sums);
    LineFit now = fit_of(step, sums, sums.yy);
    now.factor = c;
    now.bend = v;
    now.slope = start.slope;
    const double before = best.residual;
    if (now.residual > before) {  // a step too far: go half way back
      scale /= 2;
      c = best.factor + (c - best.factor) / 2;
      v = best.bend + (v - best.bend) / 2;
      if (scale < 1e-3) break;
      continue;
    }
    best = now;
    scale = 1;
    if (before - now.residual < 1e-9 * before) break;
    c += step.x;
    v += step.z;
  }
  return best;
}

LineFit fit_cap_and_slope(const ScoreCells& cells, const LineFit& start) {
  LineFit fit = start;
  fit.residual = kInfinity;
  constexpr int kMostTurns = 30;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    const double before = fit.residual;
    fit = fit_soft_cap(cells, fit);
    if (before - fit.residual < 1e-6 * before) break;
    const Sums left = centred_sums(
        cells, [&](std::size_t i) { return cells.distance[i]; }, zero,
        [&](std::size_t i) { return cells.logits[i] - fitted_logit(fit, cells, i); });
    if (left.xx > 0) fit.slope += left.xy / left.xx;
  }
  return fit;
}

RowFits fit_rows(const ScoreCells& cells) {
  RowFits fits;
  double squares = 0;
  double count = 0;
  for (std::size_t row = 0; row < cells.rows; ++row) {
    const auto begin = static_cast<std::ptrdiff_t>(row * cells.keys);
    const auto end = begin + static_cast<std::ptrdiff_t>(cells.keys);
    const ScoreCells one{1,
                         cells.keys,
                         {cells.scores.begin() + begin, cells.scores.begin() + end},
                         {cells.logits.begin() + begin, cells.logits.begin() + end},
                         {},
                         {}};
    const LineFit fit = fit_line(one);
    const bool is_told = fit.count >= 8 && fit.curvature > 0;
    fits.factors.push_back(is_told ? fit.factor : kNan);
    if (!is_told) continue;
    squares += fit.residual * fit.residual * fit.count;
    count += fit.count - 1;
  }
  fits.residual = count > 0 ? std::sqrt(squares / count) : kInfinity;
  return fits;
}

LineFit fit_groups(const ScoreCells& cells, const std::vector<double>& group) {
  // Constants of groups and the line, in turn, until they agree.
  ScoreCells left = cells;
  std::map<double, double> constants;
  LineFit fit;
  constexpr int kTurns = 12;
  for (int turn = 0; turn < kTurns; ++turn) {
    fit = fit_line(left);
    std::map<double, std::pair<double, double>> sums;
    for (std::size_t row = 0; row < cells.rows; ++row) {
      double mean = 0, n = 0;
      const std::size_t begin = row * cells.keys;
      for (std::size_t i = begin; i < begin + cells.keys; ++i) {
        if (std::isnan(cells.logits[i])) continue;
        mean += left.logits[i] - fit.factor * cells.scores[i];
        ++n;
      }
      for (std::size_t i = begin; n > 1 && i < begin + cells.keys; ++i) {
        if (std::isnan(cells.logits[i])) continue;
        auto& [sum, count] = sums[group[i]];
        sum += left.logits[i] - fit.factor * cells.scores[i] - mean / n;
        ++count;
      }
    }
    for (const auto& [key, one] : sums) constants[key] += one.first / one.second;
    for (std::size_t i = 0; i < left.logits.size(); ++i) {
      if (std::isnan(cells.logits[i])) continue;
      const auto found = constants.find(group[i]);
      if (found != constants.end()) left.logits[i] = cells.logits[i] - found->second;
    }
  }
  const double freedom = fit.count - static_cast<double>(constants.size());
  fit.residual = freedom > 0 ? fit.residual * std::sqrt(fit.count / freedom) : kInfinity;
  return fit;
}

}  // namespace attnscale
