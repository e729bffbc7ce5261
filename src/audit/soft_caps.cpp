#include "audit/soft_caps.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace attnscale {
namespace {

using Heads = std::vector<HeadCells>;
using Numbers = std::vector<double>;

constexpr std::size_t kCellsToFind = std::size_t{1} << 15;
constexpr std::size_t kCellsToTell = std::size_t{1} << 18;

CapFits pooled(std::vector<LineFit> each) {
  CapFits fits{std::move(each)};
  double weight = 0;
  for (const LineFit& fit : fits.heads) {
    if (!(fit.bend_error > 0) || !std::isfinite(fit.bend_error)) continue;
    const double w = 1 / (fit.bend_error * fit.bend_error);
    fits.bend += w * fit.bend;
    weight += w;
  }
  if (weight > 0) fits.bend /= weight;
  fits.error = weight > 0 ? 1 / std::sqrt(weight) : std::numeric_limits<double>::infinity();
  fits.residual = PooledFits(fits.heads).residual();
  return fits;
}

}  // namespace

std::string range_text(const Numbers& numbers) {
  const auto [low, high] = std::ranges::minmax(numbers);
  if (high - low < 1e-4 * std::abs(high)) return fmt::format("{:.4g}", (low + high) / 2);
  return fmt::format("{:.4g} to {:.4g}", low, high);
}

CapFits fit_caps(const Heads& heads, const std::vector<LineFit>& lines, bool is_bent) {
  std::vector<LineFit> each;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const ScoreCells cells = thinned(heads[h].cells, kCellsToFind);
    LineFit start = lines[h];
    start.bend = 0;
    LineFit best = fit_soft_cap(cells, start);
    double low = 0, high = 0;
    for (const double logit : cells.logits) {
      if (std::isnan(logit)) continue;
      low = std::min(low, logit);
      high = std::max(high, logit);
    }
    for (const double times : {1.5, 4.0, 12.0}) {
      if (!is_bent || !(high > low)) break;
      LineFit other = lines[h];
      other.factor *= times;
      other.bend = 4 / ((high - low) * (high - low));
      other = fit_soft_cap(cells, other);
      if (other.residual < best.residual) best = other;
    }
    each.push_back(best);
  }
  return pooled(std::move(each));
}

CapFits fit_caps_and_slopes(const Heads& heads, const std::vector<LineFit>& fits) {
  std::vector<LineFit> each;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    each.push_back(fit_cap_and_slope(thinned(heads[h].cells, kCellsToFind), fits[h]));
  }
  return pooled(std::move(each));
}

void take_caps(const Heads& heads, const CapFits& found, std::vector<LineFit>& lines,
               TensorAudit& audit) {
  std::vector<LineFit> each;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    each.push_back(fit_soft_cap(thinned(heads[h].cells, kCellsToTell), found.heads[h]));
  }
  const CapFits caps = pooled(std::move(each));
  Numbers sure;  // caps of heads that have one
  for (const LineFit& fit : caps.heads) {
    if (fit.bend > 10 * fit.bend_error) sure.push_back(1 / std::sqrt(fit.bend));
  }
  const double middle = median(sure);
  const auto bare = std::ranges::count_if(caps.heads, [middle](const LineFit& fit) {
    return !(fit.bend > 10 * fit.bend_error) &&
           fit.bend + 8 * fit.bend_error < 0.5 / (middle * middle);
  });
  const bool differ = std::ranges::any_of(caps.heads, [&](const LineFit& fit) {
    const double apart = std::abs(fit.bend - caps.bend);
    return fit.bend > 10 * fit.bend_error && apart > std::max(8 * fit.bend_error, 0.05 * caps.bend);
  });
  if (!sure.empty() && bare > 0) {
    audit.findings.push_back(
        fmt::format("a soft-cap of {} in {} of {} heads (cap tanh(logit / cap))", range_text(sure),
                    sure.size(), heads.size()));
  } else if (!sure.empty() && differ) {
    audit.findings.push_back(
        fmt::format("soft-caps of {} by head (cap tanh(logit / cap))", range_text(sure)));
  } else if (caps.bend > 4 * caps.error) {
    const double cap = 1 / std::sqrt(caps.bend);
    audit.soft_cap = cap;
    audit.soft_cap_error = cap * cap * cap * caps.error / 2;
    audit.findings.push_back(fmt::format("a soft-cap of {:.2f} +- {:.1g} (cap tanh(logit / cap))",
                                         cap, audit.soft_cap_error));
  }
  lines = caps.heads;
}

}  // namespace attnscale
