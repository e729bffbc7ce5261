#include "theory/exact_means_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "numerics/portable_math.h"
#include "theory/law_integrals.h"
#include "theory/pair_means.h"

namespace attnscale {
namespace {

using enum ExactMean;

// Means are smooth functions of asinh(spread): even steps near spread 0, equal ratios far from it.
// Intervals are fixed, so that no value depends on what else was asked. Beside a large sink or bias
// means are sharp where the largest logits of many keys pass it: there intervals are halved.
constexpr int kPanelPoints = 12;  // and one more for every factor e of keys, which sharpen the bend
constexpr int kFewerPanelPoints = 4;  // at most, one for each panel from spread 0: all flattens out
constexpr int kMostHalvings = 8;
// The error of the polynomial was a sixth of its last coefficients at most, mostly far less.
constexpr double kLargestLastCoefficient = 2e-8;

// No table is made for logits further apart: their squares must not overflow.
constexpr double kMostSpread = 1e100;

int panel_points(std::int64_t keys, double first) {
  return kPanelPoints + static_cast<int>(plain::log(static_cast<double>(keys))) -
         std::min(static_cast<int>(std::min(first, kMostSpread)), kFewerPanelPoints);
}

double spread_at(double w) {
  return 0.5 * (plain::exp(w) - plain::exp(-w));
}

ExactMeans linear_means(const SoftmaxIntegrals& integrals, double spread) {
  ExactMeans means = integrals.linear(spread);
  means[kTotalWeight] = 1;
  return means;
}

// The score slope is tabulated times this, which keeps its size at every spread: what is printed is
// that of a score, whose multiplier may be large. The margin is tabulated times this over the
// spread, so that it is 0 where all logits are equal; so is that of weights.
double slope_factor(double spread) {
  return std::sqrt(1 + spread * spread);
}

// What an error of this mean is relative to, where it is about `size`.
double scale_of(ExactMean mean, double size) {
  constexpr double kLeastScoreSlope = 1e-3;
  return std::max(mean == kScoreSlope ? kLeastScoreSlope : 1.0, std::abs(size));
}

// Effective keys are tabulated as their logarithm, whose error is theirs relative to them.
bool has_converged(ExactMean mean, const std::vector<double>& coefficients) {
  const std::size_t n = coefficients.size();
  const double last = std::max(std::abs(coefficients[n - 1]), std::abs(coefficients[n - 2]));
  const double scale = mean == kEffectiveKeys ? 1 : scale_of(mean, coefficients[0]);
  return last <= kLargestLastCoefficient * scale;
}

// An average over norms in equal steps, as sums over every fourth norm: they tell how fast the
// integrand's frequencies fall off.
class NormAverage {
 public:
  void add(std::size_t norm, const ExactMeans& part) { sums_[norm % 4] += part; }

  ExactMeans total() const {
    ExactMeans total;
    for (const ExactMeans& sum : sums_) total += sum;
    return total;
  }

  // The error of equal steps h is the integrand's part of frequency 1 / h. Those of 1 / 4h and
  // 1 / 2h are known; parts fall off at least as fast from there on. Of the part of 1 / 2h only the
  // cosine is seen, but some mean or other has it at its full size.
  double error(std::span<const ExactMean> means) const {
    constexpr double kNoPart = 1e-6;
    double most_part = 0;
    double most_ratio = 0;
    for (const ExactMean mean : means) {
      const double scale = scale_of(mean, total()[mean]);
      const auto sum = [&](std::size_t i) { return sums_[i][mean] / scale; };
      const double even = sum(0) - sum(2);
      const double odd = sum(1) - sum(3);
      const double part = std::sqrt(even * even + odd * odd);
      const double next_part = std::abs(sum(0) - sum(1) + sum(2) - sum(3));
      most_part = std::max(most_part, std::max(part, next_part));
      most_ratio = std::max(most_ratio, next_part / std::max(part, kNoPart));
    }
    return most_part * most_ratio * most_ratio * most_ratio;
  }

 private:
  std::array<ExactMeans, 4> sums_;
};

ExactMeans average_over_norms(ExactMeansTable& table, const ExactRequest& request,
                              std::span<const ExactMean> wanted) {
  constexpr double kNormError = 1e-9;
  const double per_norm = spread_per_norm(request);
  for (int halvings = 0;; ++halvings) {
    const QuadratureRule& norms = table.norms(request.d, halvings);
    NormAverage average;
    for (std::size_t i = 0; i < norms.size(); ++i) {
      ExactMeans at = table.at_spread(request.weighing, per_norm * norms.node[i], wanted);
      at[kScoreSlope] *= request.multiplier;
      average.add(i, norms.weight[i] * at);
    }
    if (average.error(wanted) < kNormError) return average.total();
    if (halvings == kMostHalvings) throw OutOfWork();
  }
}

}  // namespace

ExactMeans ExactMeansTable::means_of(const WeighingCase& weighing, const LogitLaw& law) const {
  if (has_pairs()) return pair_means(law, weighing);
  if (weighing.sigmoid_bias) return sigmoid_means(law, weighing.keys, *weighing.sigmoid_bias);
  ExactMeans means = softmax_means(law, weighing.keys, weighing.sink);
  means[kTotalWeight] = 1 - means[kSinkWeight];
  return means;
}

// Multiplications for the means of logits in a range this wide.
double ExactMeansTable::work_at_range(const WeighingCase& weighing, double range) const {
  if (has_pairs()) return pair_means_work(range, weighing);
  return weighing.sigmoid_bias ? one_key_work(range) : softmax_means_work(range, weighing.keys);
}

double ExactMeansTable::work_at_spread(const WeighingCase& weighing, double spread) const {
  if (is_linear(weighing) && !has_pairs()) return SoftmaxIntegrals::linear_work(weighing.keys);
  constexpr double kScores = 19;  // from the lowest to the highest
  return work_at_range(weighing, std::min(kScores * spread, 2 * weighing.softcap));
}

double ExactMeansTable::cosine_work(const ExactRequest& request) const {
  return work_at_range(request.weighing,
                       2 * std::min(std::abs(request.multiplier), request.weighing.softcap));
}

bool ExactMeansTable::is_rough(const Panel& panel) const {
  return panel[static_cast<std::size_t>(tabulated_.front())].empty();
}

// Whole numbers, whose sum is exact.
void ExactMeansTable::spend(double work) {
  work = std::ceil(work);
  if (work > left_) throw OutOfWork();
  left_ -= work;
}

ExactMeansTable::Panel ExactMeansTable::make_panel(const Panels& panels,
                                                   const WeighingCase& weighing,
                                                   Interval interval) {
  const double width = std::ldexp(1.0, -interval.halvings);
  const double first = width * static_cast<double>(interval.index);
  const int points = panel_points(weighing.keys, first);
  spend(points * work_at_spread(weighing, spread_at(first + width)));
  Panel values;
  for (const double point : chebyshev_points(points)) {
    const double spread = spread_at(first + 0.5 * width * (1 + point));
    ExactMeans means = panels.linear ? linear_means(*panels.linear, spread)
                                     : means_of(weighing, normal_law(spread, weighing.softcap));
    for (const ExactMean mean : {kScoreSlope, kMargin, kWeightMargin})
      means[mean] *= slope_factor(spread) / spread;
    if (has_pairs()) means[kEffectiveKeys] = plain::log(means[kEffectiveKeys]);
    for (std::size_t i = 0; i < values.size(); ++i) values[i].push_back(means.values()[i]);
  }
  Panel panel;
  for (const ExactMean mean : tabulated_) {
    const auto i = static_cast<std::size_t>(mean);
    panel[i] = chebyshev_coefficients(values[i]);
    if (!has_converged(mean, panel[i])) return {};
  }
  return panel;
}

ExactMeansTable::Place ExactMeansTable::place_of(const WeighingCase& weighing, double spread) {
  auto place = panels_.find(weighing);
  if (place == panels_.end()) {
    place = panels_.emplace(weighing, Panels{}).first;
    if (is_linear(weighing) && !has_pairs()) place->second.linear.emplace(weighing.keys);
  }
  auto& panels = place->second.at;
  double w = plain::asinh(spread);
  for (int halvings = 0; halvings <= kMostHalvings; ++halvings, w *= 2) {
    const Interval interval{halvings, static_cast<std::int64_t>(w)};
    auto found = panels.find(interval);
    if (found == panels.end()) {
      found = panels.emplace(interval, make_panel(place->second, weighing, interval)).first;
    }
    if (is_rough(found->second)) continue;
    return {found->second, 2 * (w - static_cast<double>(interval.index)) - 1};
  }
  throw OutOfWork();
}

ExactMeans ExactMeansTable::at_spread(const WeighingCase& weighing, double spread,
                                      std::span<const ExactMean> wanted) {
  const Place place = place_of(weighing, spread);
  ExactMeans means;
  for (const ExactMean mean : wanted) {
    means[mean] = chebyshev_value(place.panel[static_cast<std::size_t>(mean)], place.x);
  }
  means[kScoreSlope] /= slope_factor(spread);
  for (const ExactMean mean : {kMargin, kWeightMargin})
    means[mean] *= spread / slope_factor(spread);
  if (has_pairs()) means[kEffectiveKeys] = plain::exp(means[kEffectiveKeys]);
  // Where logits are multiples of scores the two are one, and this is the better kept of them.
  if (weighing.softcap == kNoSoftcap) means[kSlope] = means[kScoreSlope];
  return means;
}

const ExactMeans& ExactMeansTable::of_cosines(const WeighingCase& weighing, double d,
                                              double multiplier) {
  const std::tuple key(weighing, d, multiplier);
  const auto found = cosines_.find(key);
  if (found != cosines_.end()) return found->second;
  spend(cosine_work({d, weighing, multiplier}));
  ExactMeans means = means_of(weighing, cosine_law(d, std::abs(multiplier), weighing.softcap));
  if (multiplier < 0) means[kScoreSlope] = -means[kScoreSlope];
  return cosines_.emplace(key, means).first->second;
}

const QuadratureRule& ExactMeansTable::norms(double d, int halvings) {
  const std::tuple key(d, halvings);
  const auto found = norms_.find(key);
  return found != norms_.end() ? found->second
                               : norms_.emplace(key, chi_rule(d, halvings)).first->second;
}

double ExactMeansTable::pending_work(const WeighingCase& weighing, const Panels* panels,
                                     Interval interval, double least, double most) const {
  const double width = std::ldexp(1.0, -interval.halvings);
  const double first = width * static_cast<double>(interval.index);
  if (first + width < least || first > most) return 0;
  const auto next = [&](Interval to) { return pending_work(weighing, panels, to, least, most); };
  if (panels != nullptr) {
    const auto found = panels->at.find(interval);
    if (found != panels->at.end()) {
      if (!is_rough(found->second) || interval.halvings == kMostHalvings) return 0;
      return next({interval.halvings + 1, 2 * interval.index}) +
             next({interval.halvings + 1, 2 * interval.index + 1});
    }
  }
  return panel_points(weighing.keys, first) * work_at_spread(weighing, spread_at(first + width));
}

double ExactMeansTable::pending_work(const WeighingCase& weighing, double least_spread,
                                     double most_spread) const {
  if (!(most_spread < kMostSpread)) return std::numeric_limits<double>::infinity();
  const auto place = panels_.find(weighing);
  const Panels* const panels = place == panels_.end() ? nullptr : &place->second;
  const double least = plain::asinh(least_spread);
  const double most = plain::asinh(most_spread);
  double work = 0;
  for (auto index = static_cast<std::int64_t>(least); static_cast<double>(index) <= most; ++index) {
    work += pending_work(weighing, panels, {0, index}, least, most);
  }
  return work;
}

double ExactMeansTable::pending_work(const ExactRequest& request) const {
  if (request.law == ScoreLaw::kCosine) {
    const bool is_known = cosines_.contains({request.weighing, request.d, request.multiplier});
    return is_known ? 0 : cosine_work(request);
  }
  const QuadratureRule norms = chi_rule(request.d);
  const double per_norm = spread_per_norm(request);
  return pending_work(request.weighing, per_norm * norms.node.front(),
                      per_norm * norms.node.back());
}

ExactMeans exact_means(ExactMeansTable& table, const ExactRequest& request) {
  return request.law == ScoreLaw::kCosine
             ? table.of_cosines(request.weighing, request.d, request.multiplier)
             : average_over_norms(table, request, table.tabulated());
}

double exact_top_weight(ExactMeansTable& table, const ExactRequest& request) {
  // The slope is sharp at the same norms; with it no sharp place is overlooked.
  constexpr std::array kWanted{kTopWeight, kScoreSlope};
  return average_over_norms(table, request, kWanted)[kTopWeight];
}

}  // namespace attnscale
