#include "theory/exact_means.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "numerics/portable_math.h"
#include "theory/quadrature.h"

namespace attnscale {
namespace {

// Means are smooth functions of asinh(spread): even steps near spread 0, equal ratios far from it.
// Intervals are fixed, so that no value depends on what else was asked.
constexpr double kPanelWidth = 1;
constexpr int kPanelPoints = 10;  // and one more for every factor e of keys, which sharpen the bend
constexpr int kFewerPanelPoints = 4;  // at most, one for each panel from spread 0: all flattens out
constexpr int kMostPanelPoints = 96;
// The error of the polynomial was a sixth of its last coefficients at most, mostly far less.
constexpr double kLargestLastCoefficient = 2e-7;

/// No table is made for logits further apart: their squares must not overflow.
constexpr double kMostSpread = 1e100;

constexpr double kFirstD = 1;
constexpr double kLastD = 1e12;

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

bool is_linear(const ReferenceRow& row) {
  return row.softcap == kNoSoftcap && row.sink == kNoSink && !row.sigmoid_bias;
}

SoftmaxMeans means_of(const ReferenceRow& row, const LogitLaw& law) {
  return row.sigmoid_bias ? sigmoid_means(law, row.keys, *row.sigmoid_bias)
                          : softmax_means(law, row.keys, row.sink);
}

double total_weight(const ReferenceRow& row, const SoftmaxMeans& means) {
  return row.sigmoid_bias ? means.total_weight : 1 - means.sink_weight;
}

/// Multiplications for the means at one spread.
double work_at_spread(const ReferenceRow& row, double spread) {
  if (is_linear(row)) return SoftmaxIntegrals::linear_work(row.keys);
  constexpr double kScores = 19;  // from the lowest to the highest
  const double range = std::min(kScores * spread, 2 * row.softcap);
  return row.sigmoid_bias ? one_key_work(range) : softmax_means_work(range, row.keys);
}

double spread_per_norm(const ReferenceRequest& request) {
  return std::abs(request.multiplier) * request.entry_sd;
}

bool is_plain_pair(const ReferenceRequest& request) {
  return request.row.keys == 2 && is_linear(request.row) && request.law == ScoreLaw::kNormal;
}

/// True where the last coefficients of every column are below the accuracy wanted.
bool has_converged(std::span<const std::vector<double>> columns) {
  for (const auto& coefficients : columns) {
    const std::size_t n = coefficients.size();
    const double last = std::max(std::abs(coefficients[n - 1]), std::abs(coefficients[n - 2]));
    const double scale = std::max(1.0, std::abs(coefficients[0]));
    if (last > kLargestLastCoefficient * scale) return false;
  }
  return true;
}

/// P(|top logit - next| > gap) for two keys: their difference is normal given |q|.
double fraction_apart(const QuadratureRule& norms, double per_norm, double gap) {
  double fraction = 0;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const double spread = std::sqrt(2.0) * per_norm * norms.node[i];
    if (spread > 0) fraction += norms.weight[i] * 2 * plain::normal_cdf(-gap / spread);
  }
  return fraction;
}

/// log d up to which crossings are looked for. Under a soft-cap d ends where the uncapped logits
/// have kSaturatedCaps times its spread: nearly all logits are then at the cap or at minus the cap,
/// and the mean no longer moves. Beside a sink or in a sigmoid, where a spread costs the more the
/// larger it is, d ends at kMostBentSpread.
double last_log_d(const CrossingRequest& request) {
  constexpr double kSaturatedCaps = 64;
  constexpr double kMostBentSpread = 128;
  const double last = plain::log(kLastD);
  const double growth = request.d_power + 0.5;
  const double per_norm = std::abs(request.multiplier) * request.entry_sd;
  if (is_linear(request.row) || growth <= 0 || per_norm == 0) return last;
  const double most =
      request.row.softcap == kNoSoftcap ? kMostBentSpread : kSaturatedCaps * request.row.softcap;
  return std::min(last, plain::log(most / per_norm) / growth);
}

ReferenceRequest at_d(const CrossingRequest& request, double log_d) {
  return {plain::exp(log_d), request.row, request.multiplier * plain::exp(request.d_power * log_d),
          request.entry_sd};
}

double mean_top_weight(ReferenceTable& table, const ReferenceRequest& request) {
  const QuadratureRule& norms = table.norms(request.d);
  const double per_norm = spread_per_norm(request);
  double mean = 0;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    mean += norms.weight[i] * table.top_weight_at_spread(request.row, per_norm * norms.node[i]);
  }
  return mean;
}

}  // namespace

ReferenceTable::Panel ReferenceTable::make_panel(const Row& row, const ReferenceRow& key,
                                                 int index) {
  // More points until the last coefficients say that the polynomial has converged.
  for (int points = panel_points(key.keys, index);; points *= 2) {
    const Panel panel = make_panel(row, key, index, points);
    if (points >= kMostPanelPoints || has_converged(panel)) return panel;
  }
}

ReferenceTable::Panel ReferenceTable::make_panel(const Row& row, const ReferenceRow& key, int index,
                                                 int points) {
  std::array<std::vector<double>, kColumns> values;
  for (const double point : chebyshev_points(points)) {
    const double spread = spread_at(index + 0.5 * (1 + point));
    const SoftmaxMeans means =
        row.linear ? row.linear->linear(spread) : means_of(key, normal_law(spread, key.softcap));
    const std::array<double, kColumns> column{
        means.top_weight,  means.slope,        means.score_slope / spread,
        means.sum_p2,      means.entropy,      means.margin / spread,
        means.sink_weight, means.sink_entropy, total_weight(key, means)};
    for (std::size_t c = 0; c < kColumns; ++c) values[c].push_back(column[c]);
  }
  Panel panel;
  for (std::size_t c = 0; c < kColumns; ++c) panel[c] = chebyshev_coefficients(values[c]);
  return panel;
}

ReferenceTable::Place ReferenceTable::place_of(const ReferenceRow& row, double spread) {
  auto place = rows_.find(row);
  if (place == rows_.end()) {
    place = rows_.emplace(row, Row{}).first;
    if (is_linear(row)) place->second.linear.emplace(row.keys);
  }
  const double w = plain::asinh(spread) / kPanelWidth;
  const auto index = static_cast<int>(w);
  auto& panels = place->second.panels;
  auto found = panels.find(index);
  if (found == panels.end()) {
    found = panels.emplace(index, make_panel(place->second, row, index)).first;
  }
  return {found->second, 2 * (w - index) - 1};
}

SoftmaxReference ReferenceTable::at_spread(const ReferenceRow& row, double spread) {
  const Place place = place_of(row, spread);
  std::array<double, kColumns> column{};
  for (std::size_t c = 0; c < kColumns; ++c) {
    column[c] = chebyshev_value(place.panel[c], place.x);
  }
  return {column[0], column[1], column[2], column[3], column[4],
          column[5], column[6], column[7], column[8]};
}

double ReferenceTable::top_weight_at_spread(const ReferenceRow& row, double spread) {
  const Place place = place_of(row, spread);
  return chebyshev_value(place.panel[0], place.x);
}

const SoftmaxReference& ReferenceTable::of_cosines(const ReferenceRow& row, double d,
                                                   double multiplier) {
  const std::tuple key(row, d, multiplier);
  const auto found = cosines_.find(key);
  if (found != cosines_.end()) return found->second;
  const SoftmaxMeans means = means_of(row, cosine_law(d, std::abs(multiplier), row.softcap));
  const SoftmaxReference reference{means.top_weight,
                                   means.slope,
                                   multiplier < 0 ? -means.score_slope : means.score_slope,
                                   means.sum_p2,
                                   means.entropy,
                                   means.margin,
                                   means.sink_weight,
                                   means.sink_entropy,
                                   total_weight(row, means)};
  return cosines_.emplace(key, reference).first->second;
}

const QuadratureRule& ReferenceTable::norms(double d) {
  const auto found = norms_.find(d);
  return found != norms_.end() ? found->second : norms_.emplace(d, chi_rule(d)).first->second;
}

double ReferenceTable::pending_work(const ReferenceRow& row, double least_spread,
                                    double most_spread) const {
  if (!(most_spread < kMostSpread)) return std::numeric_limits<double>::infinity();
  const auto place = rows_.find(row);
  double work = 0;
  for (int index = panel_of(least_spread); index <= panel_of(most_spread); ++index) {
    if (place != rows_.end() && place->second.panels.contains(index)) continue;
    work += panel_points(row.keys, index) * work_at_spread(row, spread_at(index + 1));
  }
  return work;
}

double ReferenceTable::pending_work(const ReferenceRequest& request) const {
  if (request.law == ScoreLaw::kCosine) {
    if (cosines_.contains({request.row, request.d, request.multiplier})) return 0;
    const double range = 2 * std::min(std::abs(request.multiplier), request.row.softcap);
    return request.row.sigmoid_bias ? one_key_work(range)
                                    : softmax_means_work(range, request.row.keys);
  }
  const QuadratureRule norms = chi_rule(request.d);
  const double per_norm = spread_per_norm(request);
  return pending_work(request.row, per_norm * norms.node.front(), per_norm * norms.node.back());
}

double ReferenceTable::pending_work(const CrossingRequest& request) const {
  const double first = plain::log(kFirstD);
  const double last = last_log_d(request);
  if (last <= first) return 0;  // under so small a cap no d is looked at
  double least = kMostSpread;
  double most = 0;
  for (const double log_d : {first, last}) {
    const QuadratureRule norms = chi_rule(plain::exp(log_d));
    const double per_norm = spread_per_norm(at_d(request, log_d));
    least = std::min(least, per_norm * norms.node.front());
    most = std::max(most, per_norm * norms.node.back());
  }
  return pending_work(request.row, least, most);
}

SoftmaxReference softmax_reference(ReferenceTable& table, const ReferenceRequest& request) {
  if (request.law == ScoreLaw::kCosine) {
    return table.of_cosines(request.row, request.d, request.multiplier);
  }
  const QuadratureRule& norms = table.norms(request.d);
  const double per_norm = spread_per_norm(request);
  SoftmaxReference mean{};
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const double spread = per_norm * norms.node[i];
    const double weight = norms.weight[i];
    const SoftmaxReference at = table.at_spread(request.row, spread);
    mean.top_weight += weight * at.top_weight;
    mean.slope += weight * at.slope;
    mean.score_slope += weight * request.multiplier * at.score_slope;
    mean.sum_p2 += weight * at.sum_p2;
    mean.entropy += weight * at.entropy;
    mean.margin += weight * spread * at.margin;
    mean.sink_weight += weight * at.sink_weight;
    mean.sink_entropy += weight * at.sink_entropy;
    mean.total_weight += weight * at.total_weight;
  }
  return mean;
}

LogitMoments logit_moments_reference(const ReferenceRequest& request) {
  const double d = request.d;
  const bool is_cosine = request.law == ScoreLaw::kCosine;
  const double full_size = std::abs(request.multiplier) * (is_cosine ? 1 : request.entry_sd);
  if (full_size == 0) return {0, std::nullopt};
  if (request.row.softcap == kNoSoftcap) {
    return is_cosine ? LogitMoments{full_size / std::sqrt(d), 3 * d / (d + 2)}
                     : LogitMoments{full_size * std::sqrt(d), 3 + 6 / d};
  }
  // Panels are cut by what logits rise on them, up to twice the cap: a large cap and its logits are
  // shrunk together, which changes no moment but by that factor.
  constexpr double kMostCap = 64;
  const double shrink = std::min(1.0, kMostCap / request.row.softcap);
  const double cap = shrink * request.row.softcap;
  const double size = shrink * full_size;
  EvenMoments mean{};
  if (is_cosine) {
    mean = even_moments(cosine_law(d, size, cap));
  } else {
    const QuadratureRule norms = chi_rule(d);
    for (std::size_t i = 0; i < norms.size(); ++i) {
      const EvenMoments at = even_moments(normal_law(size * norms.node[i], cap));
      mean.second += norms.weight[i] * at.second;
      mean.fourth += norms.weight[i] * at.fourth;
    }
  }
  return {std::sqrt(mean.second) / shrink, mean.fourth / (mean.second * mean.second)};
}

std::optional<double> saturated_reference(const ReferenceRequest& request, double threshold) {
  if (!is_plain_pair(request)) return std::nullopt;
  if (threshold < 0.5) return 1;
  if (threshold >= 1) return 0;
  const double gap = plain::log(threshold / (1 - threshold));
  return fraction_apart(chi_rule(request.d), spread_per_norm(request), gap);
}

std::optional<double> median_top_weight_reference(const ReferenceRequest& request) {
  if (!is_plain_pair(request)) return std::nullopt;
  const QuadratureRule norms = chi_rule(request.d);
  const double per_norm = spread_per_norm(request);
  double low = 0;
  double high = 2 * per_norm * norms.node.back();
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    (fraction_apart(norms, per_norm, middle) > 0.5 ? low : high) = middle;
  }
  return 1 / (1 + plain::exp(-high));
}

bool is_cut_short(const CrossingRequest& request) {
  return request.row.softcap == kNoSoftcap && last_log_d(request) < plain::log(kLastD);
}

std::optional<double> exact_crossing(ReferenceTable& table, const CrossingRequest& request,
                                     double level) {
  const double last = last_log_d(request);
  const double first = plain::log(kFirstD);
  if (last <= first) return std::nullopt;
  const auto above_level = [&](double log_d) {
    return mean_top_weight(table, at_d(request, log_d)) - level;
  };
  // Walk up in d until the sign changes, in steps that all levels share.
  constexpr int kSteps = 24;
  std::vector<double>& walk = table.walk(request);
  const auto log_d_of = [&](std::size_t step) {
    return first + (last - first) * static_cast<double>(step) / kSteps;
  };
  std::size_t step = 0;
  for (;; ++step) {
    if (step > kSteps) return std::nullopt;
    if (step == walk.size()) {
      walk.push_back(mean_top_weight(table, at_d(request, log_d_of(step))));
    }
    if ((walk[step] > level) != (walk[0] > level)) break;
  }
  double low = log_d_of(step - 1);
  double at_low = walk[step - 1] - level;
  double high = log_d_of(step);
  double at_high = walk[step] - level;

  // False position with the Illinois correction: the end that stays loses half its value.
  constexpr double kClose = 1e-11;
  int stayed = 0;
  for (int turn = 0; turn < 100 && high - low > kClose; ++turn) {
    const double middle = (low * at_high - high * at_low) / (at_high - at_low);
    const double value = above_level(middle);
    if (std::abs(value) < 1e-15) return plain::exp(middle);
    if ((value > 0) == (at_low > 0)) {
      low = middle;
      at_low = value;
      if (stayed == 1) at_high *= 0.5;
      stayed = 1;
    } else {
      high = middle;
      at_high = value;
      if (stayed == -1) at_low *= 0.5;
      stayed = -1;
    }
  }
  return plain::exp(0.5 * (low + high));
}

}  // namespace attnscale
