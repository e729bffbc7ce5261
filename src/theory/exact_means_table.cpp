#include "theory/exact_means_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "numerics/portable_math.h"
#include "theory/law_integrals.h"

namespace attnscale {
namespace {

using enum ExactMean;

// Means are smooth functions of asinh(spread): even steps near spread 0, equal ratios far from it.
// Intervals are fixed, so that no value depends on what else was asked.
constexpr double kPanelWidth = 1;
constexpr int kPanelPoints = 10;  // and one more for every factor e of keys, which sharpen the bend
constexpr int kFewerPanelPoints = 4;  // at most, one for each panel from spread 0: all flattens out
constexpr int kMostPanelPoints = 96;
// The error of the polynomial was a sixth of its last coefficients at most, mostly far less.
constexpr double kLargestLastCoefficient = 2e-7;

// No table is made for logits further apart: their squares must not overflow.
constexpr double kMostSpread = 1e100;

int panel_points(std::int64_t keys, int index) {
  return kPanelPoints + static_cast<int>(plain::log(static_cast<double>(keys))) -
         std::min(index, kFewerPanelPoints);
}

double spread_at(double panel) {
  const double w = kPanelWidth * panel;
  return 0.5 * (plain::exp(w) - plain::exp(-w));
}

int panel_of(double spread) {
  return static_cast<int>(plain::asinh(spread) / kPanelWidth);
}

ExactMeans means_of(const WeighingCase& weighing, const LogitLaw& law) {
  if (weighing.sigmoid_bias) return sigmoid_means(law, weighing.keys, *weighing.sigmoid_bias);
  ExactMeans means = softmax_means(law, weighing.keys, weighing.sink);
  means[kTotalWeight] = 1 - means[kSinkWeight];
  return means;
}

ExactMeans linear_means(const SoftmaxIntegrals& integrals, double spread) {
  ExactMeans means = integrals.linear(spread);
  means[kTotalWeight] = 1;
  return means;
}

// Multiplications for the means at one spread.
double work_at_spread(const WeighingCase& weighing, double spread) {
  if (is_linear(weighing)) return SoftmaxIntegrals::linear_work(weighing.keys);
  constexpr double kScores = 19;  // from the lowest to the highest
  const double range = std::min(kScores * spread, 2 * weighing.softcap);
  return weighing.sigmoid_bias ? one_key_work(range) : softmax_means_work(range, weighing.keys);
}

// True where the last coefficients of every mean are below the accuracy wanted.
bool has_converged(std::span<const std::vector<double>> means) {
  for (const auto& coefficients : means) {
    const std::size_t n = coefficients.size();
    const double last = std::max(std::abs(coefficients[n - 1]), std::abs(coefficients[n - 2]));
    const double scale = std::max(1.0, std::abs(coefficients[0]));
    if (last > kLargestLastCoefficient * scale) return false;
  }
  return true;
}

}  // namespace

ExactMeansTable::Panel ExactMeansTable::make_panel(const Panels& panels,
                                                   const WeighingCase& weighing, int index) {
  // More points until the last coefficients say that the polynomial has converged.
  for (int points = panel_points(weighing.keys, index);; points *= 2) {
    const Panel panel = make_panel(panels, weighing, index, points);
    if (points >= kMostPanelPoints || has_converged(panel)) return panel;
  }
}

ExactMeansTable::Panel ExactMeansTable::make_panel(const Panels& panels,
                                                   const WeighingCase& weighing, int index,
                                                   int points) {
  Panel values;
  for (const double point : chebyshev_points(points)) {
    const double spread = spread_at(index + 0.5 * (1 + point));
    ExactMeans means = panels.linear ? linear_means(*panels.linear, spread)
                                     : means_of(weighing, normal_law(spread, weighing.softcap));
    means[kScoreSlope] /= spread;
    means[kMargin] /= spread;
    means[kMeanLogit] = 0;
    for (std::size_t i = 0; i < values.size(); ++i) values[i].push_back(means.values()[i]);
  }
  Panel panel;
  for (std::size_t i = 0; i < panel.size(); ++i) panel[i] = chebyshev_coefficients(values[i]);
  return panel;
}

ExactMeansTable::Place ExactMeansTable::place_of(const WeighingCase& weighing, double spread) {
  auto place = panels_.find(weighing);
  if (place == panels_.end()) {
    place = panels_.emplace(weighing, Panels{}).first;
    if (is_linear(weighing)) place->second.linear.emplace(weighing.keys);
  }
  const double w = plain::asinh(spread) / kPanelWidth;
  const auto index = static_cast<int>(w);
  auto& panels = place->second.at;
  auto found = panels.find(index);
  if (found == panels.end()) {
    found = panels.emplace(index, make_panel(place->second, weighing, index)).first;
  }
  return {found->second, 2 * (w - index) - 1};
}

ExactMeans ExactMeansTable::at_spread(const WeighingCase& weighing, double spread) {
  const Place place = place_of(weighing, spread);
  ExactMeans means;
  for (std::size_t i = 0; i < ExactMeans::kCount; ++i) {
    means.values()[i] = chebyshev_value(place.panel[i], place.x);
  }
  return means;
}

double ExactMeansTable::top_weight_at_spread(const WeighingCase& weighing, double spread) {
  const Place place = place_of(weighing, spread);
  return chebyshev_value(place.panel[static_cast<std::size_t>(kTopWeight)], place.x);
}

const ExactMeans& ExactMeansTable::of_cosines(const WeighingCase& weighing, double d,
                                              double multiplier) {
  const std::tuple key(weighing, d, multiplier);
  const auto found = cosines_.find(key);
  if (found != cosines_.end()) return found->second;
  ExactMeans means = means_of(weighing, cosine_law(d, std::abs(multiplier), weighing.softcap));
  if (multiplier < 0) means[kScoreSlope] = -means[kScoreSlope];
  return cosines_.emplace(key, means).first->second;
}

const QuadratureRule& ExactMeansTable::norms(double d) {
  const auto found = norms_.find(d);
  return found != norms_.end() ? found->second : norms_.emplace(d, chi_rule(d)).first->second;
}

double ExactMeansTable::pending_work(const WeighingCase& weighing, double least_spread,
                                     double most_spread) const {
  if (!(most_spread < kMostSpread)) return std::numeric_limits<double>::infinity();
  const auto place = panels_.find(weighing);
  double work = 0;
  for (int index = panel_of(least_spread); index <= panel_of(most_spread); ++index) {
    if (place != panels_.end() && place->second.at.contains(index)) continue;
    work += panel_points(weighing.keys, index) * work_at_spread(weighing, spread_at(index + 1));
  }
  return work;
}

double ExactMeansTable::pending_work(const ExactRequest& request) const {
  const WeighingCase& weighing = request.weighing;
  if (request.law == ScoreLaw::kCosine) {
    if (cosines_.contains({weighing, request.d, request.multiplier})) return 0;
    const double range = 2 * std::min(std::abs(request.multiplier), weighing.softcap);
    return weighing.sigmoid_bias ? one_key_work(range) : softmax_means_work(range, weighing.keys);
  }
  const QuadratureRule norms = chi_rule(request.d);
  const double per_norm = spread_per_norm(request);
  return pending_work(weighing, per_norm * norms.node.front(), per_norm * norms.node.back());
}

ExactMeans exact_means(ExactMeansTable& table, const ExactRequest& request) {
  const WeighingCase& weighing = request.weighing;
  if (request.law == ScoreLaw::kCosine) {
    return table.of_cosines(weighing, request.d, request.multiplier);
  }
  const QuadratureRule& norms = table.norms(request.d);
  const double per_norm = spread_per_norm(request);
  ExactMeans mean;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const double spread = per_norm * norms.node[i];
    ExactMeans weight;
    weight.values().fill(norms.weight[i]);
    weight[kScoreSlope] *= request.multiplier;
    weight[kMargin] *= spread;
    mean += weight * table.at_spread(weighing, spread);
  }
  return mean;
}

double exact_top_weight(ExactMeansTable& table, const ExactRequest& request) {
  const QuadratureRule& norms = table.norms(request.d);
  const double per_norm = spread_per_norm(request);
  double mean = 0;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    mean +=
        norms.weight[i] * table.top_weight_at_spread(request.weighing, per_norm * norms.node[i]);
  }
  return mean;
}

}  // namespace attnscale
