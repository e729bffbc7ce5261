#include "numerics/softmax_integrals.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "numerics/plain_math.h"

namespace attnscale {
namespace {

constexpr double kEulerGamma = 0.57721566490153286061;
constexpr double kDeepest = 40;      // e^-40 is nothing beside 1: deeper keys carry no weight
constexpr double kScoreReach = 8.5;  // P(score < -8.5) is 1e-17
constexpr double kSmallSpread = 1;   // below it, the normal law sets the scale of distances
constexpr double kLogNothing = -30;  // e^-30 is 1e-13

// Sizes of the rules. With these the total weight and Stein's identity hold to 1e-8 from 2 to 2^20
// keys (2e-8 at most); every further digit would cost about a third more time.
constexpr int kTopPoints = 22;
constexpr double kTopPointsPerLogKeys = 2.6;
constexpr int kLaplacePoints = 12;
constexpr double kLaplacePointsPerLogKeys = 3;
constexpr int kOtherPoints = 24;
constexpr int kOtherPointsAtSmallSpread = 32;
constexpr double kOtherPointsPerLogKeys = 0.8;
constexpr int kCurvePanelPoints = 8;

/// log of n Phi(x)^(n-1): times phi it is the density of the largest of n normals, times 1 - Phi
/// that of x lying between the two largest.
double log_others_below(double x, double keys) {
  const double log_cdf =
      x > 0 ? plain::log1p(-plain::normal_cdf(-x)) : plain::log(plain::normal_cdf(x));
  return plain::log(keys) + (keys - 1) * log_cdf;
}

/// Where a monotone condition changes between `no` and `yes`.
template <typename Condition>
double edge_between(double no, double yes, const Condition& holds) {
  for (int step = 0; step < 40; ++step) {
    const double middle = 0.5 * (no + yes);
    (holds(middle) ? yes : no) = middle;
  }
  return yes;
}

/// Sums over the other keys that one t needs, times the density of an other score:
/// 1 - e^-q, e^-D e^-q, e^-2D e^-q and D e^-D e^-q with q = t e^-D. One row per distance D,
/// contiguous in t, so that sums over keys run in a fixed order however wide the vectors are.
class OtherKernel {
 public:
  explicit OtherKernel(const QuadratureRule& laplace) : t_(laplace.node) {}

  /// `shift` >= 0 is added to every distance inside the exponentials: a sink's share.
  void fill(std::span<const double> distance, double shift) {
    const std::size_t points = t_.size();
    rows_.resize(distance.size() * kFunctions * points);
    for (std::size_t j = 0; j < distance.size(); ++j) {
      const double weight = plain::exp(-(distance[j] + shift));
      double* const lost = row(j, 0);
      double* const first = row(j, 1);
      double* const second = row(j, 2);
      double* const gap = row(j, 3);
      for (std::size_t k = 0; k < points; ++k) {
        const double less = plain::expm1(-t_[k] * weight);
        lost[k] = -less;
        first[k] = weight * (1 + less);
      }
      for (std::size_t k = 0; k < points; ++k) {
        second[k] = weight * first[k];
        gap[k] = distance[j] * first[k];
      }
    }
  }

  /// Adds weight * (the functions at distance j) to `sums`, kFunctions rows of t's length.
  void add(std::size_t j, double weight, std::span<double> sums) const {
    const double* const from = rows_.data() + j * sums.size();
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += weight * from[k];
  }

  static constexpr std::size_t kFunctions = 4;

 private:
  double* row(std::size_t j, std::size_t function) {
    return rows_.data() + (j * kFunctions + function) * t_.size();
  }

  std::span<const double> t_;
  std::vector<double> rows_;
};

/// The top key of one node of the outermost integral.
struct TopKey {
  double weight;  // quadrature weight times density
  LogitPoint at;
};

/// Where a sink stands beside a top logit: its share of top + sink, and log(1 + e^(sink - top)).
struct SinkShare {
  double sink;
  double top;
  double log_total;
  double log_ratio;  // sink - top; 0 without a sink
};

SinkShare share_with_sink(double top_logit, double sink) {
  if (sink == kNoSink) return {0, 1, 0, 0};
  const double ratio = sink - top_logit;
  const double small = plain::exp(-std::abs(ratio));
  const double log_total = std::max(ratio, 0.0) + plain::log1p(small);
  const double larger = 1 / (1 + small);
  const double smaller = small / (1 + small);
  return ratio > 0 ? SinkShare{larger, smaller, log_total, ratio}
                   : SinkShare{smaller, larger, log_total, ratio};
}

/// Integrates over t and adds one top key's part to the means. `sums` are the kernel's sums over
/// one other key given that it lies below the top.
class TopKeyTerms {
 public:
  TopKeyTerms(double keys, const QuadratureRule& laplace) : others_(keys - 1), laplace_(laplace) {
    for (std::size_t k = 0; k < laplace.size(); ++k) {
      decay_.push_back(laplace.weight[k] * plain::exp(-laplace.node[k]));
      most_.push_back(-plain::expm1(-laplace.node[k]));
      log_t_.push_back(kEulerGamma + plain::log(laplace.node[k]));
    }
    survive_.resize(laplace.size());
    vanish_.resize(laplace.size());
  }

  void add(const TopKey& key, const SinkShare& share, std::span<const double> sums,
           SoftmaxMeans& means) {
    const std::size_t points = laplace_.size();
    for (std::size_t k = 0; k < points; ++k) {
      // 1 - M is at most its value when the other key ties with the top one.
      const double lost = std::min(sums[k], most_[k]);
      vanish_[k] = -plain::expm1(others_ * plain::log1p(-lost));  // 1 - E[e^-tR]
      survive_[k] = others_ * (1 - vanish_[k]) / (1 - lost);      // (n-1) M^(n-2)
    }
    double inverse = 0;         // E 1 / (1 + R)
    double inverse2 = 0;        // E 1 / (1 + R)^2
    double log_total = 0;       // E log(1 + R)
    double log_over_total = 0;  // E log(1 + R) / (1 + R)
    double others = 0;          // E R / (1 + R)
    double others2 = 0;         // E R / (1 + R)^2
    double squares = 0;         // E sum e^-2D / (1 + R)^2
    double gap = 0;             // E sum D e^-D / (1 + R)
    for (std::size_t k = 0; k < points; ++k) {
      const double t = laplace_.node[k];
      const double each = decay_[k] * survive_[k];
      inverse += decay_[k] * (1 - vanish_[k]);
      inverse2 += decay_[k] * t * (1 - vanish_[k]);
      log_total += decay_[k] * vanish_[k] / t;
      log_over_total += decay_[k] * log_t_[k] * vanish_[k];
      others += each * sums[points + k];
      others2 += each * t * sums[points + k];
      squares += each * t * sums[2 * points + k];
      gap += each * sums[3 * points + k];
    }
    const double sink_weight = share.sink * inverse;
    const double slope = share.top * (others2 + share.sink * inverse2);
    const double key_weight = share.top * inverse + others;
    means.top_weight += key.weight * share.top * inverse;
    means.slope += key.weight * slope;
    means.score_slope += key.weight * slope * key.at.derivative;
    means.sum_p2 += key.weight * (share.top * share.top * inverse2 + squares);
    means.entropy +=
        key.weight * (gap + key_weight * share.log_total + log_total - share.sink * log_over_total);
    means.mean_logit += key.weight * (key.at.logit * key_weight - gap);
    means.total_weight += key.weight * key_weight;
    means.sink_weight += key.weight * sink_weight;
    means.sink_entropy += key.weight * (share.sink * log_over_total +
                                        sink_weight * (share.log_total - share.log_ratio));
  }

 private:
  double others_;
  const QuadratureRule& laplace_;
  std::vector<double> decay_, most_, log_t_, survive_, vanish_;
};

/// True where a cubic through both ends' values and derivatives follows the curve on [a, b].
bool is_smooth(const LogitCurve& logit, double a, double b) {
  const LogitPoint at_a = logit(a);
  const LogitPoint at_b = logit(b);
  const double width = b - a;
  // Two points that are no mirror images, lest the centre of an odd curve look smooth.
  for (const double u : {0.29, 0.62}) {
    const double v = 1 - u;
    const double cubic = v * v * (1 + 2 * u) * at_a.logit + u * u * (1 + 2 * v) * at_b.logit +
                         width * u * v * (v * at_a.derivative - u * at_b.derivative);
    if (std::abs(cubic - logit(a + u * width).logit) > 1e-3) return false;
  }
  return true;
}

/// True where the logit rises by so little on [a, b] that weights beside e^level change smoothly;
/// far from the level one of both is nothing.
bool is_level(const LogitCurve& logit, double a, double b, double level) {
  constexpr double kHighestRise = 6;
  const double low = logit(a).logit;
  const double high = logit(b).logit;
  return high - low <= kHighestRise || high < level - kDeepest || low > level + kDeepest;
}

/// Cuts [low, high] into parts at most `widest` wide, and further until the curve is smooth and,
/// around `level`, flat enough on every part. The edges, in order.
std::vector<double> cut(const LogitCurve& logit, double low, double high, double widest,
                        double level) {
  constexpr double kNarrowest = 1e-9;
  const auto parts = std::ceil((high - low) / widest);
  std::vector<double> edges{low};
  std::vector<double> ahead;  // right edges still to be reached, the nearest last
  for (double i = parts; i > 0; --i) ahead.push_back(low + (high - low) * (i / parts));
  while (!ahead.empty()) {
    const double a = edges.back();
    const double b = ahead.back();
    if (b - a < kNarrowest || (is_level(logit, a, b, level) && is_smooth(logit, a, b))) {
      edges.push_back(b);
      ahead.pop_back();
    } else {
      ahead.push_back(0.5 * (a + b));
    }
  }
  return edges;
}

/// Distances of an other key's logit below the top one at x, and weights times the other's density
/// given that it lies below x.
void other_keys(const LogitCurve& logit, double x, double top_logit, const QuadratureRule& panel,
                std::vector<double>& distance, QuadratureRule& other) {
  constexpr double kWidest = 1.2;
  distance.clear();
  other = {};
  // The lowest score that still carries weight.
  double deep = -kScoreReach - 1;
  if (top_logit - logit(deep).logit > kDeepest) {
    double shallow = x;
    for (int step = 0; step < 60; ++step) {
      const double middle = 0.5 * (deep + shallow);
      (top_logit - logit(middle).logit > kDeepest ? deep : shallow) = middle;
    }
  }
  const double below = plain::normal_cdf(x);
  const std::vector<double> edges = cut(logit, deep, x, kWidest, top_logit);
  for (std::size_t e = 0; e + 1 < edges.size(); ++e) {
    const double half = 0.5 * (edges[e + 1] - edges[e]);
    for (std::size_t i = 0; i < panel.size(); ++i) {
      const double z = edges[e] + half * (1 + panel.node[i]);
      distance.push_back(std::max(top_logit - logit(z).logit, 0.0));
      other.add(z, half * panel.weight[i] * plain::normal_density(z) / below);
    }
  }
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
  const auto tops = kTopPoints + static_cast<int>(kTopPointsPerLogKeys * plain::log(keys_));
  const double step = (highest_ - lowest_) / tops;
  for (int i = 1; i < tops; ++i) {
    const double x = lowest_ + i * step;
    const double others_below = step * plain::exp(log_others_below(x, keys_));
    tops_.push_back({x, others_below * plain::normal_density(x), plain::normal_cdf(x)});
    normal_margin_ += others_below * plain::normal_cdf(-x);
  }

  // t = scale (e^(a w^2) - 1) resolves t from 1 / keys to 1 alike; the square tames the log t of
  // log(1 + R) / (1 + R).
  constexpr double kLast = 32;
  const double scale = 1 / keys_;
  const double a = plain::log1p(kLast / scale);
  const auto points = kLaplacePoints + static_cast<int>(kLaplacePointsPerLogKeys * a);
  const QuadratureRule laplace = gauss_legendre(points);
  for (std::size_t i = 0; i < laplace.size(); ++i) {
    const double w = 0.5 * (1 + laplace.node[i]);
    laplace_.add(scale * plain::expm1(a * w * w),
                 0.5 * laplace.weight[i] * scale * plain::exp(a * w * w) * 2 * a * w);
  }

  const auto more = static_cast<int>(kOtherPointsPerLogKeys * plain::log(keys_));
  shallow_ = gauss_legendre(kOtherPoints + more);
  deep_ = gauss_legendre(kOtherPointsAtSmallSpread + more);
}

double SoftmaxIntegrals::linear_work() const {
  return static_cast<double>(tops_.size() * deep_.size() * laplace_.size() *
                             OtherKernel::kFunctions);
}

SoftmaxMeans SoftmaxIntegrals::linear(double spread) const {
  // The distance to another key's score is reach * u^2, dense near the top key.
  const bool small = spread < kSmallSpread;
  const QuadratureRule& rule = small ? deep_ : shallow_;
  const double reach = std::min(kDeepest / spread, highest_ + kScoreReach);  // of scores
  std::vector<double> distance;
  QuadratureRule other;
  for (std::size_t j = 0; j < rule.size(); ++j) {
    const double u = 0.5 * (1 + rule.node[j]);
    other.add(reach * u * u, rule.weight[j] * reach * u);
    distance.push_back(spread * other.node.back());
  }

  OtherKernel kernel(laplace_);
  TopKeyTerms terms(keys_, laplace_);
  SoftmaxMeans means{};
  std::vector<double> sums(OtherKernel::kFunctions * laplace_.size());
  const SinkShare alone = share_with_sink(0, kNoSink);
  kernel.fill(distance, alone.log_total);
  for (const TopScore& top : tops_) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t j = 0; j < other.size(); ++j) {
      const double density = plain::normal_density(top.score - other.node[j]) / top.below;
      kernel.add(j, other.weight[j] * density, sums);
    }
    terms.add({top.weight, {spread * top.score, spread}}, alone, sums, means);
  }
  means.margin = spread * normal_margin_;
  return means;
}

SoftmaxMeans SoftmaxIntegrals::curve(const LogitCurve& logit, double sink) const {
  const QuadratureRule panel = gauss_legendre(kCurvePanelPoints);
  const double widest =
      1.5 / std::sqrt(2 * plain::log(keys_));  // the top score's spread shrinks so
  const std::vector<double> edges = cut(logit, lowest_, highest_, widest, sink);
  OtherKernel kernel(laplace_);
  TopKeyTerms terms(keys_, laplace_);
  SoftmaxMeans means{};
  std::vector<double> sums(OtherKernel::kFunctions * laplace_.size());
  std::vector<double> distance;
  QuadratureRule other;
  for (std::size_t e = 0; e + 1 < edges.size(); ++e) {
    const double half = 0.5 * (edges[e + 1] - edges[e]);
    for (std::size_t i = 0; i < panel.size(); ++i) {
      const double x = edges[e] + half * (1 + panel.node[i]);
      const LogitPoint top = logit(x);
      other_keys(logit, x, top.logit, panel, distance, other);
      const SinkShare share = share_with_sink(top.logit, sink);
      kernel.fill(distance, share.log_total);
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::size_t j = 0; j < other.size(); ++j) kernel.add(j, other.weight[j], sums);
      const double below = half * panel.weight[i] * plain::exp(log_others_below(x, keys_));
      terms.add({below * plain::normal_density(x), top}, share, sums, means);
      means.margin += below * top.derivative * plain::normal_cdf(-x);
    }
  }
  return means;
}

}  // namespace attnscale
