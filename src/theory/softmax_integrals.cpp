#include "theory/softmax_integrals.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "numerics/portable_math.h"
#include "theory/top_key_terms.h"

namespace attnscale {
namespace {

using enum ExactMean;

constexpr double kMostGap = 40;      // e^-40 is nothing beside 1: deeper keys carry no weight
constexpr double kScoreReach = 8.5;  // P(score < -8.5) is 1e-17
constexpr double kMultiplicationsAtOnce = 2;  // in the narrowest vectors, those of SSE2
constexpr double kSmallSpread = 1;   // below it, the normal law sets the scale of distances
constexpr double kLogNothing = -30;  // e^-30 is 1e-13

// Sizes of the rules. With these all means are right to 5e-9, relative above 1, from 2 to 2^20
// keys; every further digit would cost about a third more time.
constexpr int kTopPoints = 28;
constexpr double kTopPointsPerLogKeys = 2.6;
constexpr int kLaplacePoints = 12;
constexpr double kLaplacePointsPerLogKeys = 3;
constexpr int kOtherPoints = 27;
constexpr int kOtherPointsAtSmallSpread = 32;
constexpr double kOtherPointsPerLogKeys = 0.8;

// log of n Phi(x)^(n-1): times phi it is the density of the largest of n normals, times 1 - Phi
// that of x lying between the two largest.
double log_others_below(double x, double keys) {
  const double log_cdf =
      x > 0 ? plain::log1p(-plain::normal_cdf(-x)) : plain::log(plain::normal_cdf(x));
  return plain::log(keys) + (keys - 1) * log_cdf;
}

// Where a monotone condition changes between `no` and `yes`.
template <typename Condition>
double edge_between(double no, double yes, const Condition& holds) {
  for (int step = 0; step < 40; ++step) {
    const double middle = 0.5 * (no + yes);
    (holds(middle) ? yes : no) = middle;
  }
  return yes;
}

// Numbers of nodes.
struct Sizes {
  int tops;
  int laplace;
  int shallow;
  int deep;
};

// t = scale (e^(a w^2) - 1) with scale = 1 / keys: this is a.
double laplace_range(double keys) {
  constexpr double kLast = 32;
  return plain::log1p(kLast * keys);
}

Sizes sizes_for(double keys) {
  const double log_keys = plain::log(keys);
  const auto more = static_cast<int>(kOtherPointsPerLogKeys * log_keys);
  return {kTopPoints + static_cast<int>(kTopPointsPerLogKeys * log_keys),
          kLaplacePoints + static_cast<int>(kLaplacePointsPerLogKeys * laplace_range(keys)),
          kOtherPoints + more, kOtherPointsAtSmallSpread + more};
}

}  // namespace

SoftmaxIntegrals::SoftmaxIntegrals(std::int64_t keys)
    : keys_(static_cast<double>(keys)),
      lowest_(edge_between(kScoreReach, -kScoreReach,
                           [&](double x) { return log_others_below(x, keys_) < kLogNothing; })),
      highest_(edge_between(0, 2 * kScoreReach, [&](double x) {
        return plain::log(keys_ * plain::normal_density(x)) < kLogNothing;
      })) {
  // The density of the top score and all its derivatives vanish at both ends: equal steps converge
  // faster than any power of the step.
  const Sizes sizes = sizes_for(keys_);
  const double step = (highest_ - lowest_) / sizes.tops;
  for (int i = 1; i < sizes.tops; ++i) {
    const double x = lowest_ + i * step;
    const double others_below = step * plain::exp(log_others_below(x, keys_));
    tops_.push_back({x, others_below * plain::normal_density(x), plain::normal_cdf(x)});
    normal_margin_ += others_below * plain::normal_cdf(-x);
  }

  // t = scale (e^(a w^2) - 1) resolves t from 1 / keys to 1 alike; the square tames the log t of
  // log(1 + R) / (1 + R).
  const double scale = 1 / keys_;
  const double a = laplace_range(keys_);
  const QuadratureRule laplace = gauss_legendre(sizes.laplace);
  for (std::size_t i = 0; i < laplace.size(); ++i) {
    const double w = 0.5 * (1 + laplace.node[i]);
    const double t = scale * plain::expm1(a * w * w);
    log_t_.push_back(plain::log(t));
    t_step_.push_back(laplace.weight[i] * scale * plain::exp(a * w * w) * a * w / t);
  }

  shallow_ = gauss_legendre(sizes.shallow);
  deep_ = gauss_legendre(sizes.deep);
}

double SoftmaxIntegrals::linear_work(std::int64_t keys) {
  const Sizes sizes = sizes_for(static_cast<double>(keys));
  return static_cast<double>(sizes.tops) * sizes.deep * sizes.laplace * OtherSums::kFunctions /
         kMultiplicationsAtOnce;
}

ExactMeans SoftmaxIntegrals::linear(double spread) const {
  // The distance to another key's score is reach * u^2, dense near the top key.
  const bool small = spread < kSmallSpread;
  const QuadratureRule& rule = small ? deep_ : shallow_;
  const double reach = std::min(kMostGap / spread, highest_ + kScoreReach);  // of scores
  const std::size_t points = log_t_.size();
  const std::size_t row = OtherSums::kFunctions * points;
  QuadratureRule other;
  std::vector<double> functions(rule.size() * row);
  for (std::size_t j = 0; j < rule.size(); ++j) {
    const double u = 0.5 * (1 + rule.node[j]);
    other.add(reach * u * u, rule.weight[j] * reach * u);
    // Logits from the top one down.
    fill_other_key(log_t_, -spread * other.node[j], functions.data() + j * row, points);
  }

  TopKeyTerms terms(keys_, kNoSink);
  ExactMeans means;
  std::vector<double> sums(row);
  std::vector<double> weights(rule.size());
  for (const TopScore& top : tops_) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t j = 0; j < other.size(); ++j) {
      weights[j] = other.weight[j] * plain::normal_density(top.score - other.node[j]);
    }
    add_weighted(functions.data(), row, weights, sums);
    const double weight_so_far = means[kTotalWeight];
    terms.add({top.weight, 0, spread}, log_t_, t_step_, {sums.data(), points}, top.below, means);
    means[kMeanLogit] += spread * top.score * (means[kTotalWeight] - weight_so_far);
  }
  means[kMargin] = spread * normal_margin_;
  return means;
}

}  // namespace attnscale
