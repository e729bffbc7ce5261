#include "experiment/reference.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "numerics/plain_math.h"
#include "numerics/quadrature.h"

namespace attnscale {
namespace {

// Means are smooth functions of asinh(spread): even steps near spread 0, equal ratios far from it.
// Intervals are fixed, so that no value depends on what else was asked.
constexpr double kPanelWidth = 1;
constexpr int kPanelPoints = 10;  // and one more for every factor e of keys, which sharpen the bend
constexpr int kMostPanelPoints = 96;
constexpr double kLargestLastCoefficient = 3e-8;

/// No table is made for logits further apart: their squares must not overflow.
constexpr double kMostSpread = 1e100;

constexpr double kFirstD = 1;
constexpr double kLastD = 1e12;

int panel_points(std::int64_t keys) {
  return kPanelPoints + static_cast<int>(plain::log(static_cast<double>(keys)));
}

int panel_of(double spread) {
  return static_cast<int>(plain::asinh(spread) / kPanelWidth);
}

bool is_linear(const ReferenceRow& row) {
  return row.softcap == kNoSoftcap && row.sink == kNoSink;
}

/// cap tanh(spread score / cap).
LogitCurve softcap_curve(double spread, double cap) {
  if (cap == kNoSoftcap)
    return [spread](double score) { return LogitPoint{spread * score, spread}; };
  return [spread, cap](double score) {
    const double bent = plain::tanh(spread * score / cap);
    return LogitPoint{cap * bent, spread * (1 - bent) * (1 + bent)};
  };
}

double spread_per_norm(const ReferenceRequest& request) {
  return std::abs(request.multiplier) * request.entry_sd;
}

bool is_plain_pair(const ReferenceRow& row) {
  return row.keys == 2 && is_linear(row);
}

/// True where the last coefficients of every column are below the accuracy wanted.
bool has_converged(std::span<const std::vector<double>> columns) {
  for (const auto& coefficients : columns) {
    const std::size_t n = coefficients.size();
    const double last = std::max(std::abs(coefficients[n - 1]), std::abs(coefficients[n - 2]));
    if (last > kLargestLastCoefficient) return false;
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
/// and the mean no longer moves.
double last_log_d(const CrossingRequest& request) {
  constexpr double kSaturatedCaps = 64;
  const double last = plain::log(kLastD);
  const double growth = request.d_power + 0.5;
  const double per_norm = std::abs(request.multiplier) * request.entry_sd;
  if (request.row.softcap == kNoSoftcap || growth <= 0 || per_norm == 0) return last;
  return std::min(last, plain::log(kSaturatedCaps * request.row.softcap / per_norm) / growth);
}

ReferenceRequest at_d(const CrossingRequest& request, double log_d) {
  return {plain::exp(log_d), request.row, request.multiplier * plain::exp(request.d_power * log_d),
          request.entry_sd};
}

}  // namespace

ReferenceTable::Panel ReferenceTable::make_panel(const SoftmaxIntegrals& integrals,
                                                 const ReferenceRow& row, int index) {
  // More points until the last coefficients say that the polynomial has converged.
  for (int points = panel_points(row.keys);; points *= 2) {
    const Panel panel = make_panel(integrals, row, index, points);
    if (points >= kMostPanelPoints || has_converged(panel)) return panel;
  }
}

ReferenceTable::Panel ReferenceTable::make_panel(const SoftmaxIntegrals& integrals,
                                                 const ReferenceRow& row, int index, int points) {
  std::array<std::vector<double>, kColumns> values;
  for (const double point : chebyshev_points(points)) {
    const double w = kPanelWidth * (index + 0.5 * (1 + point));
    const double spread = 0.5 * (plain::exp(w) - plain::exp(-w));
    const SoftmaxMeans means = is_linear(row)
                                   ? integrals.linear(spread)
                                   : integrals.curve(softcap_curve(spread, row.softcap), row.sink);
    const std::array<double, kColumns> column{
        means.top_weight, means.slope,           means.score_slope / spread, means.sum_p2,
        means.entropy,    means.margin / spread, means.sink_weight,          means.sink_entropy};
    for (std::size_t c = 0; c < kColumns; ++c) values[c].push_back(column[c]);
  }
  Panel panel;
  for (std::size_t c = 0; c < kColumns; ++c) panel[c] = chebyshev_coefficients(values[c]);
  return panel;
}

SoftmaxReference ReferenceTable::at_spread(const ReferenceRow& row, double spread) {
  auto place = rows_.find(row);
  if (place == rows_.end()) {
    place = rows_.emplace(row, Row{SoftmaxIntegrals(row.keys), {}}).first;
  }
  const double w = plain::asinh(spread) / kPanelWidth;
  const int index = panel_of(spread);
  auto& panels = place->second.panels;
  auto found = panels.find(index);
  if (found == panels.end()) {
    found = panels.emplace(index, make_panel(place->second.integrals, row, index)).first;
  }
  const double x = 2 * (w - index) - 1;
  std::array<double, kColumns> column{};
  for (std::size_t c = 0; c < kColumns; ++c) column[c] = chebyshev_value(found->second[c], x);
  return {column[0], column[1], column[2], column[3], column[4], column[5], column[6], column[7]};
}

double ReferenceTable::pending_work(const ReferenceRow& row, double least_spread,
                                    double most_spread) const {
  if (!(most_spread < kMostSpread)) return std::numeric_limits<double>::infinity();
  const int first = panel_of(least_spread);
  const int last = panel_of(most_spread);
  const auto place = rows_.find(row);
  int missing = last - first + 1;
  if (place != rows_.end()) {
    const auto& panels = place->second.panels;
    missing -= static_cast<int>(std::distance(panels.lower_bound(first), panels.upper_bound(last)));
  }
  if (missing == 0) return 0;
  const double each = place != rows_.end() ? place->second.integrals.linear_work()
                                           : SoftmaxIntegrals(row.keys).linear_work();
  const double shape = is_linear(row) ? 1 : SoftmaxIntegrals::kCurveWork;
  return missing * panel_points(row.keys) * each * shape;
}

double ReferenceTable::pending_work(const ReferenceRequest& request) const {
  const QuadratureRule norms = chi_rule(request.d);
  const double per_norm = spread_per_norm(request);
  return pending_work(request.row, per_norm * norms.node.front(), per_norm * norms.node.back());
}

double ReferenceTable::pending_work(const CrossingRequest& request) const {
  const double last = last_log_d(request);
  double least = kMostSpread;
  double most = 0;
  for (const double log_d : {plain::log(kFirstD), last}) {
    const QuadratureRule norms = chi_rule(plain::exp(log_d));
    const double per_norm = spread_per_norm(at_d(request, log_d));
    least = std::min(least, per_norm * norms.node.front());
    most = std::max(most, per_norm * norms.node.back());
  }
  return pending_work(request.row, least, most);
}

SoftmaxReference softmax_reference(ReferenceTable& table, const ReferenceRequest& request) {
  const QuadratureRule norms = chi_rule(request.d);
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
  }
  return mean;
}

std::optional<double> saturated_reference(const ReferenceRequest& request, double threshold) {
  if (!is_plain_pair(request.row)) return std::nullopt;
  if (threshold < 0.5) return 1;
  if (threshold >= 1) return 0;
  const double gap = plain::log(threshold / (1 - threshold));
  return fraction_apart(chi_rule(request.d), spread_per_norm(request), gap);
}

std::optional<double> median_top_weight_reference(const ReferenceRequest& request) {
  if (!is_plain_pair(request.row)) return std::nullopt;
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

std::optional<double> exact_crossing(ReferenceTable& table, const CrossingRequest& request,
                                     double level) {
  const auto above_level = [&](double log_d) {
    return softmax_reference(table, at_d(request, log_d)).top_weight - level;
  };
  // Walk up in d until the sign changes.
  constexpr int kSteps = 24;
  double low = plain::log(kFirstD);
  const double last = last_log_d(request);
  if (last <= low) return std::nullopt;
  double at_low = above_level(low);
  double high = low;
  double at_high = at_low;
  for (int step = 1; step <= kSteps; ++step) {
    high = last * step / kSteps;  // the first d is 1, its logarithm 0
    at_high = above_level(high);
    if ((at_low > 0) != (at_high > 0)) break;
    low = high;
    at_low = at_high;
  }
  if ((at_low > 0) == (at_high > 0)) return std::nullopt;

  // False position with the Illinois correction: the end that stays loses half its value.
  constexpr double kClose = 1e-11;
  int stayed = 0;
  for (int step = 0; step < 100 && high - low > kClose; ++step) {
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
