#include "theory/key_grid.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numerics/portable_math.h"
#include "numerics/quadrature.h"

namespace attnscale {
namespace {

constexpr int kPointsOfPanel = 10;
constexpr int kFirstPanels = 16;
constexpr int kFewestPanels = 32;     // once densities are smooth: 31 to 43 from 2 keys to 2^20
constexpr double kHighestRise = 3.5;  // of the logit on a panel: weights change on a scale of 1
constexpr double kHighestRank = 4;    // of the log of P(all keys lie lower)
constexpr double kLeastRank = -35;    // e^-35 is nothing
constexpr double kRough = 1e-5;       // of a logit
constexpr double kRoughDensity = 3e-9;
constexpr double kDeepestKey = 40;  // e^-40 is nothing beside 1
constexpr double kNoTop = 1e-14;

struct Cut {
  double low;
  double high;
  double half() const { return 0.5 * (high - low); }
  double at(double node) const { return low + half() * (1 + node); }
};

// A panel's share of the law: densities at its nodes and P(lower), P(higher) at its ends.
struct Share {
  std::vector<double> mass;
  double below;  // its low end
  double above;  // its high end
  double total;
};

double log_of_share(double below, double above) {
  return above < 0.5 ? plain::log1p(-above) : plain::log(std::max(below, 1e-300));
}

std::vector<Share> shares_of(const LogitLaw& law, const PanelRule& rule,
                             const std::vector<Cut>& cuts) {
  std::vector<Share> shares;
  double all = 0;
  for (const Cut& cut : cuts) {
    Share share{{}, all, 0, 0};
    for (std::size_t i = 0; i < rule.size(); ++i) {
      share.mass.push_back(cut.half() * plain::exp(law.log_density(cut.at(rule.node(i)))));
      share.total += rule.weight(i) * share.mass.back();
    }
    all += share.total;
    shares.push_back(std::move(share));
  }
  double above = 0;
  // Clang before 16 cannot read libstdc++'s views.
  for (auto share = shares.rbegin(); share != shares.rend(); ++share) {
    for (double& mass : share->mass) mass /= all;
    share->total /= all;
    share->below /= all;
    share->above = above;
    above += share->total;
  }
  return shares;
}

// Log of P(all other keys lie lower) at both ends.
std::pair<double, double> ranks_of(const Share& share, double keys) {
  return {(keys - 1) * log_of_share(share.below, share.above + share.total),
          (keys - 1) * log_of_share(share.below + share.total, share.above)};
}

constexpr double kNarrowest = 1e-12;  // of the law's range: no panel is cut any further

// Halves what `is_fine` does not accept.
template <typename IsFine>
std::vector<Cut> halve(const std::vector<Cut>& cuts, const IsFine& is_fine) {
  const double narrowest = kNarrowest * (cuts.back().high - cuts.front().low);
  std::vector<Cut> finer;
  std::vector<Cut> ahead(cuts.rbegin(), cuts.rend());
  while (!ahead.empty()) {
    const Cut cut = ahead.back();
    ahead.pop_back();
    if (cut.high - cut.low < narrowest || is_fine(cut)) {
      finer.push_back(cut);
    } else {
      const double middle = 0.5 * (cut.low + cut.high);
      ahead.push_back({middle, cut.high});
      ahead.push_back({cut.low, middle});
    }
  }
  return finer;
}

// No panel above `least` rises too high if its logits rise evenly.
std::vector<Cut> in_equal_parts(const LogitLaw& law, const std::vector<Cut>& cuts, double least) {
  std::vector<Cut> parts;
  for (const Cut& cut : cuts) {
    const double high = law.logit(cut.high).logit;
    const double rise = high < least ? 0 : high - law.logit(cut.low).logit;
    const auto count = static_cast<int>(std::ceil(std::clamp(rise / kHighestRise, 1.0, 1e6)));
    const double width = (cut.high - cut.low) / count;
    for (int i = 0; i < count; ++i) {
      parts.push_back({cut.low + i * width, i + 1 == count ? cut.high : cut.low + (i + 1) * width});
    }
  }
  return parts;
}

// Panels on which the densities of a key and of the top key are smooth.
std::vector<Cut> cuts_by_density(const LogitLaw& law, const PanelRule& rule, double keys) {
  std::vector<Cut> cuts{{law.lowest, law.highest}};
  const double width = law.highest - law.lowest;
  cuts = halve(cuts, [&](const Cut& cut) { return kFirstPanels * (cut.high - cut.low) <= width; });
  for (;;) {
    const std::vector<Share> shares = shares_of(law, rule, cuts);
    std::vector<Cut> finer;
    for (std::size_t p = 0; p < cuts.size(); ++p) {
      const auto [low, high] = ranks_of(shares[p], keys);
      const double most = std::max(1.0, keys * plain::exp(high));  // top keys for each key here
      const bool is_fine = most * rule.last_coefficients(shares[p].mass) < kRoughDensity &&
                           (high - low < kHighestRank || high < kLeastRank);
      const double middle = 0.5 * (cuts[p].low + cuts[p].high);
      if (is_fine || cuts[p].half() < kNarrowest * width) {
        finer.push_back(cuts[p]);
      } else {
        finer.push_back({cuts[p].low, middle});
        finer.push_back({middle, cuts[p].high});
      }
    }
    if (finer.size() == cuts.size()) return cuts;
    cuts = std::move(finer);
  }
}

// The logit below which keys have no weight beside any top key.
double least_logit(const LogitLaw& law, const std::vector<Cut>& cuts,
                   const std::vector<Share>& shares, double keys) {
  for (std::size_t p = 0; p < cuts.size(); ++p) {
    if (keys * plain::exp(ranks_of(shares[p], keys).second) > kNoTop) {
      return law.logit(cuts[p].low).logit - kDeepestKey;
    }
  }
  return law.logit(law.lowest).logit;
}

KeyPanel panel_on(const LogitLaw& law, const PanelRule& rule, double keys, const Cut& cut,
                  const Share& share) {
  KeyPanel panel{law.logit(cut.low).logit, law.logit(cut.high).logit, {}};
  for (std::size_t i = 0; i < rule.size(); ++i) {
    double lower = 0;  // the panel's keys below node i
    for (std::size_t j = 0; j < rule.size(); ++j) lower += rule.below(i, j) * share.mass[j];
    const double below = std::max(share.below + lower, 1e-300);
    const double above = share.above + std::max(share.total - lower, 0.0);
    const LogitPoint at = law.logit(cut.at(rule.node(i)));
    const double log_below = log_of_share(below, above);
    const double key = rule.weight(i) * share.mass[i];
    const double top = key * keys * plain::exp((keys - 1) * log_below);
    panel.nodes.push_back({at.logit, at.derivative, share.mass[i], below, top,
                           keys < 2 ? 0 : top * (keys - 1) * above / below});
  }
  return panel;
}

}  // namespace

PanelRule::PanelRule(int points) {
  const QuadratureRule rule = gauss_legendre(points);
  node_ = rule.node;
  weight_ = rule.weight;
  const std::size_t n = rule.size();
  // P_0 ... P_n at every node.
  std::vector<std::vector<double>> legendre;
  for (const double x : node_) {
    std::vector<double> p{1, x};
    for (std::size_t m = 1; m < n; ++m) {
      const auto degree = static_cast<double>(m);
      p.push_back(((2 * degree + 1) * x * p[m] - degree * p[m - 1]) / (degree + 1));
    }
    legendre.push_back(std::move(p));
  }
  // The value at node j has the coefficients w_j P_m(x_j) (2 m + 1) / 2; the integral of P_m from
  // -1 is (P_(m+1) - P_(m-1)) / (2 m + 1).
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 1 + node_[i];
      for (std::size_t m = 1; m < n; ++m) {
        sum += legendre[j][m] * (legendre[i][m + 1] - legendre[i][m - 1]);
      }
      below_.push_back(0.5 * weight_[j] * sum);
    }
  }
  const auto degrees = static_cast<double>(n);
  for (std::size_t j = 0; j < n; ++j) {
    last_.push_back(weight_[j] * legendre[j][n - 1] * (degrees - 0.5));
    last_but_one_.push_back(weight_[j] * legendre[j][n - 2] * (degrees - 1.5));
  }
}

double PanelRule::last_coefficients(const std::vector<double>& values) const {
  double last = 0;
  double last_but_one = 0;
  for (std::size_t j = 0; j < values.size(); ++j) {
    last += last_[j] * values[j];
    last_but_one += last_but_one_[j] * values[j];
  }
  return std::abs(last) + std::abs(last_but_one);
}

KeyGrid make_key_grid(const LogitLaw& law, double keys, GridKeys wanted) {
  KeyGrid grid{PanelRule(kPointsOfPanel), {}};
  const PanelRule& rule = grid.rule;
  std::vector<Cut> cuts = cuts_by_density(law, rule, keys);
  std::vector<Share> shares = shares_of(law, rule, cuts);
  const double least =
      wanted == GridKeys::kAll ? law.logit(law.lowest).logit : least_logit(law, cuts, shares, keys);
  cuts = in_equal_parts(law, cuts, least);
  cuts = halve(cuts, [&](const Cut& cut) {
    const double low = law.logit(cut.low).logit;
    const double high = law.logit(cut.high).logit;
    if (high < least) return true;
    if (high - low > kHighestRise) return false;
    std::vector<double> logits;
    for (std::size_t i = 0; i < rule.size(); ++i) {
      logits.push_back(law.logit(cut.at(rule.node(i))).logit);
    }
    return rule.last_coefficients(logits) < kRough;
  });
  shares = shares_of(law, rule, cuts);
  for (std::size_t p = 0; p < cuts.size(); ++p) {
    const bool has_key = keys * (shares[p].above + shares[p].total) > kNoTop;
    if (!has_key || law.logit(cuts[p].high).logit < least) continue;
    grid.panels.push_back(panel_on(law, rule, keys, cuts[p], shares[p]));
  }
  return grid;
}

double key_grid_nodes(double logit_range) {
  // The lower half of the range is too far below the top for any weight.
  return kPointsOfPanel * (kFewestPanels + 0.5 * logit_range / kHighestRise);
}

}  // namespace attnscale
