#include "theory/second_formula.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace attnscale {
namespace {

using enum ExactMean;

constexpr double kEulerGamma = 0.57721566490153286061;

/// Equal steps through the law's coordinate, with four of Gauss's nodes inside each.
struct Grid {
  struct Point {
    double logit;
    double derivative;
    double mass;  ///< times the step or Gauss's weight
  };
  std::vector<Point> points;
  std::vector<std::array<Point, 4>> inside;  ///< the step before each point; unused for the first
  std::vector<double> below, above;          ///< P(a key lies lower), P(higher)
};

Grid grid_of(const LogitLaw& law) {
  constexpr double kMostRise = 0.4;
  const double width = law.highest - law.lowest;
  std::size_t steps = 256;
  const auto at = [&](std::size_t i) {
    return law.lowest + width * static_cast<double>(i) / static_cast<double>(steps);
  };
  const auto rises_too_fast = [&] {
    for (std::size_t i = 1; i <= steps; ++i) {
      if (law.logit(at(i)).logit - law.logit(at(i - 1)).logit > kMostRise) return true;
    }
    return false;
  };
  while (rises_too_fast()) steps += steps / 4;

  const double half = 0.5 * width / static_cast<double>(steps);
  constexpr std::array<double, 4> kNode{-0.8611363115940526, -0.3399810435848563,
                                        0.3399810435848563, 0.8611363115940526};
  constexpr std::array<double, 4> kWeight{0.3478548451374538, 0.6521451548625461,
                                          0.6521451548625461, 0.3478548451374538};
  const auto point = [&](double u, double weight) {
    const LogitPoint logit = law.logit(u);
    return Grid::Point{logit.logit, logit.derivative, weight * std::exp(law.log_density(u))};
  };
  Grid grid;
  double total = 0;
  for (std::size_t i = 0; i <= steps; ++i) {
    grid.points.push_back(point(at(i), 2 * half));
    total += grid.points.back().mass;
    grid.inside.emplace_back();
    for (std::size_t j = 0; i > 0 && j < 4; ++j) {
      grid.inside.back()[j] = point(at(i) + half * (kNode[j] - 1), half * kWeight[j]);
    }
  }
  for (auto& at_point : grid.points) at_point.mass /= total;
  std::vector<double> step_mass;
  for (auto& step : grid.inside) {
    double mass = 0;
    for (auto& inner : step) mass += inner.mass /= total;
    step_mass.push_back(mass);
  }
  grid.below.assign(steps + 1, 0);
  grid.above.assign(steps + 1, 0);
  for (std::size_t i = 1; i <= steps; ++i) grid.below[i] = grid.below[i - 1] + step_mass[i];
  for (std::size_t i = steps; i-- > 0;) grid.above[i] = grid.above[i + 1] + step_mass[i + 1];
  return grid;
}

/// (n - 1) log of P(a key lies lower), less what `more` takes of it.
double log_others(const Grid& grid, std::size_t i, double keys, double more = 0) {
  const double away = grid.above[i] + more;
  if (away < 0.5) return (keys - 1) * std::log1p(-away);
  const double left = grid.below[i] - more;
  return left > 0 ? (keys - 1) * std::log(left) : keys > 1 ? -1e300 : 0;
}

double margin_of(const Grid& grid, double keys) {
  // The top key has the density n F^(n-1) f, the next to it n (n - 1) F^(n-2) (1 - F) f.
  double margin = 0;
  for (std::size_t i = 1; keys > 1 && i < grid.points.size(); ++i) {
    const double top = keys * std::exp(log_others(grid, i, keys)) * grid.points[i].mass;
    const double next = top * (keys - 1) * grid.above[i] / std::max(grid.below[i], 1e-300);
    margin += grid.points[i].logit * (top - next);
  }
  return margin;
}

/// A band of t around e^-logit in which a key of that logit has any part.
class Times {
 public:
  Times(double keys, double sink, double lowest, double highest)
      : left_(-kDepth - std::log(keys)),
        first_(index(-std::max(highest, sink) + left_)),
        last_(std::max(index(-lowest + kLast), index(-std::max(lowest, sink) + kLast))) {}

  static constexpr double kStep = 0.3;
  std::size_t size() const { return static_cast<std::size_t>(last_ - first_) + 1; }
  double log_t(std::size_t k) const {
    return kStep * static_cast<double>(first_ + std::ptrdiff_t(k));
  }
  std::size_t begin(double logit) const { return place(-logit + left_); }
  std::size_t end(double logit) const { return place(-logit + kLast) + 1; }

 private:
  static constexpr double kDepth = 24;  // e^-24 is 4e-11
  static constexpr double kLast = 3.7;  // exp(-e^3.7) is 3e-18
  static std::ptrdiff_t index(double log_t) {
    return static_cast<std::ptrdiff_t>(std::floor(log_t / kStep));
  }
  std::size_t place(double log_t) const {
    return static_cast<std::size_t>(std::clamp(index(log_t), first_, last_) - first_);
  }

  double left_;
  std::ptrdiff_t first_;
  std::ptrdiff_t last_;
};

/// Of one key at every t: E of 1 - e^-q, q e^-q, q^2 e^-q and (gamma + log t + logit) q e^-q.
struct OneKey {
  std::vector<double> lost, first, second, entropy;
};

double lost_at(double q) {
  return q < 1e-4 ? q * (1 - q * (0.5 - q / 6)) : 1 - std::exp(-q);
}

ExactMeans softmax_by_second_formula(const Grid& grid, double n, double sink) {
  const Times times(n, sink, grid.points.front().logit, grid.points.back().logit);
  const std::size_t points = times.size();
  const double ratio = std::exp(Times::kStep);
  std::vector<double> sink_left(points, 1);  // e^-te^sink
  std::vector<double> sink_q(points, 0);
  for (std::size_t k = 0; k < points && sink != kNoSink; ++k) {
    sink_q[k] = std::exp(std::min(times.log_t(k) + sink, 700.0));
    sink_left[k] = std::exp(-sink_q[k]);
  }
  OneKey key;
  for (auto* sum : {&key.lost, &key.first, &key.second, &key.entropy}) sum->assign(points, 0);
  std::vector<double> gone(points + 1, 0);   // mass of keys with q beyond the band, by its end
  std::vector<double> lower(points + 1, 0);  // the lost parts of keys below
  ExactMeans means;
  for (std::size_t i = 0; i < grid.points.size(); ++i) {
    const auto& at = grid.points[i];
    for (std::size_t j = 0; i > 0 && j < 4; ++j) {
      const auto& inner = grid.inside[i][j];
      double q = std::exp(times.log_t(times.begin(inner.logit)) + inner.logit);
      for (std::size_t k = times.begin(inner.logit); k < times.end(inner.logit); ++k, q *= ratio) {
        lower[k] += inner.mass * lost_at(q);
      }
    }
    const std::size_t begin = times.begin(at.logit);
    const std::size_t end = times.end(at.logit);
    const bool may_be_top = log_others(grid, i, n) > -40;
    double q = std::exp(times.log_t(begin) + at.logit);
    for (std::size_t k = begin; k < end; ++k, q *= ratio) {
      const double lost = lost_at(q);
      const double first = q * (1 - lost);
      key.lost[k] += at.mass * lost;
      key.first[k] += at.mass * first;
      key.second[k] += at.mass * q * first;
      key.entropy[k] += at.mass * (kEulerGamma + times.log_t(k) + at.logit) * first;
      if (!may_be_top) continue;
      const double others = std::exp(log_others(grid, i, n, lower[k]));
      const double top = Times::kStep * n * at.mass * others * sink_left[k] * first;
      means[kTopWeight] += top;
      means[kSlope] += top * (1 - q);
      means[kScoreSlope] += top * (1 - q) * at.derivative;
    }
    gone[end] += at.mass;
  }
  double all_gone = 0;
  for (std::size_t k = 0; k < points; ++k) {
    all_gone += gone[k];
    const double lost = std::min(key.lost[k] + all_gone, 1.0);
    const double log_left = lost < 1 ? std::log1p(-lost) : -1e300;
    const double others = Times::kStep * n * std::exp((n - 1) * log_left) * sink_left[k];
    means[kTotalWeight] += others * key.first[k];
    means[kSumP2] += others * key.second[k];
    means[kEntropy] -= others * key.entropy[k];
    const double sink_part = Times::kStep * std::exp(n * log_left) * sink_left[k] * sink_q[k];
    means[kSinkWeight] += sink_part;
    means[kSquaredSinkWeight] += sink_part * sink_q[k];
    means[kSinkEntropy] -= sink_part * (kEulerGamma + times.log_t(k) + sink);
    if (sink == kNoSink) means[kSinkEntropy] = 0;
  }
  return means;
}

ExactMeans sigmoid_by_second_formula(const Grid& grid, double n, double bias) {
  ExactMeans means;
  for (std::size_t i = 1; i < grid.points.size(); ++i) {
    const auto& at = grid.points[i];
    const double x = at.logit + bias;
    const double p = 1 / (1 + std::exp(-x));
    const double slope = p / (1 + std::exp(x));
    const double top = n * at.mass * std::exp(log_others(grid, i, n));
    means[kTopWeight] += top * p;
    means[kSlope] += top * slope;
    means[kScoreSlope] += top * slope * at.derivative;
    means[kTotalWeight] += n * at.mass * p;
    means[kSumP2] += n * at.mass * p * p;
    if (p > 0) means[kEntropy] += n * at.mass * p * std::log1p(std::exp(-x));
  }
  return means;
}

}  // namespace

ExactMeans second_formula(const LogitLaw& law, const WeighingCase& weighing) {
  const Grid grid = grid_of(law);
  const auto n = static_cast<double>(weighing.keys);
  ExactMeans means = weighing.sigmoid_bias
                         ? sigmoid_by_second_formula(grid, n, *weighing.sigmoid_bias)
                         : softmax_by_second_formula(grid, n, weighing.sink);
  means[kMargin] = margin_of(grid, n);
  return means;
}

ExactMeans second_formula(const ExactRequest& request) {
  const double d = request.d;
  const WeighingCase& weighing = request.weighing;
  if (request.law == ScoreLaw::kCosine) {
    ExactMeans means =
        second_formula(cosine_law(d, std::abs(request.multiplier), weighing.softcap), weighing);
    if (request.multiplier < 0) means[kScoreSlope] *= -1;
    return means;
  }
  // Ten of Gauss's nodes on every panel of the norm r, whose density is that of chi.
  constexpr std::array<double, 5> kNode{0.1488743389816312, 0.4333953941292472, 0.6794095682990244,
                                        0.8650633666889845, 0.9739065285171717};
  constexpr std::array<double, 5> kWeight{0.2955242247147529, 0.2692667193099963,
                                          0.2190863625159821, 0.1494513491505806,
                                          0.0666713443086881};
  const double last = std::sqrt(d) + 7.5;
  const double log_scale = (0.5 * d - 1) * std::log(2.0) + std::lgamma(0.5 * d);
  ExactMeans mean;
  double low = std::max(0.0, std::sqrt(d) - 6);
  for (double half = 0; low < last; low += 2 * half) {
    // The density changes on a scale of 1, the means on one of the norm, or of a spread of 1.
    half = 0.5 * std::min(std::clamp(0.12 * std::sqrt(d), 0.3, 1.0),
                          std::max(0.35 * low, 0.4 / spread_per_norm(request)));
    for (std::size_t j = 0; j < 10; ++j) {
      const std::size_t side = j % 5;
      const double r = low + half * (1 + (j < 5 ? kNode[side] : -kNode[side]));
      const double weight =
          half * kWeight[side] * std::exp((d - 1) * std::log(r) - 0.5 * r * r - log_scale);
      if (weight < 1e-12) continue;
      const double spread = spread_per_norm(request) * r;
      ExactMeans at = second_formula(normal_law(spread, weighing.softcap), weighing);
      at[kScoreSlope] *= request.multiplier / spread;
      mean += weight * at;
    }
  }
  return mean;
}

}  // namespace attnscale
