#include "theory/pair_means.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "numerics/portable_math.h"
#include "numerics/vector_clones.h"
#include "theory/key_grid.h"
#include "theory/top_key_terms.h"

namespace attnscale {
namespace {

using enum ExactMean;

constexpr double kPairStep = 0.4;   // in log t and log u
constexpr double kLeastPart = -21;  // e^-21 is 8e-10: less than that of q, e^-q is 1 - q
constexpr double kAllGone = 3.5;    // exp(-e^3.5) is 4e-15
constexpr double kNearestToOne = 1 - 1e-15;
constexpr double kNoPair = 1e-14;

// The step of log t or log u at which q = t e^logit is e^log_q.
std::int64_t step_at(double log_q, double logit) {
  return static_cast<std::int64_t>(std::floor((log_q - logit) / kPairStep));
}

struct Steps {
  std::int64_t first;
  std::int64_t last;

  std::size_t size() const { return last < first ? 0 : static_cast<std::size_t>(last - first) + 1; }
  std::size_t offset_in(const Steps& all) const {
    return std::min(static_cast<std::size_t>(first - all.first), all.size());
  }
  std::vector<double> values() const {
    std::vector<double> log_t;
    for (std::int64_t k = first; k <= last; ++k)
      log_t.push_back(kPairStep * static_cast<double>(k));
    return log_t;
  }
};

// e^-q and 1 - e^-q of one key.
ATTNSCALE_VECTOR_CLONES
void fill_kept(const double* __restrict log_t, std::size_t points, double logit,
               double* __restrict kept, double* __restrict lost) {
  for (std::size_t k = 0; k < points; ++k) {
    const double less = plain::expm1(-plain::exp(log_t[k] + logit));
    kept[k] = 1 + less;
    lost[k] = -less;
  }
}

// Adds 1 - e^-q and sqrt(q) e^-q of one key.
ATTNSCALE_VECTOR_CLONES
void add_squares(const double* __restrict log_u, std::size_t points, double logit, double mass,
                 double* __restrict lost, double* __restrict root) {
  for (std::size_t k = 0; k < points; ++k) {
    const double root_of_q = plain::exp(0.5 * (log_u[k] + logit));
    const double less = plain::expm1(-root_of_q * root_of_q);
    lost[k] -= mass * less;
    root[k] += mass * root_of_q * (1 + less);
  }
}

// What a key adds to the margin at each log t if it is the top one, less what it takes if it is the
// next, over P(it is the top one). The sums over keys below and above are `lost` and `kept`, which
// is overwritten.
ATTNSCALE_VECTOR_CLONES
void fill_margin(const double* __restrict log_t, std::size_t points, double logit, double sink,
                 double keys, double below, const double* __restrict lost,
                 double* __restrict kept) {
  for (std::size_t k = 0; k < points; ++k) {
    const double q = plain::exp(log_t[k] + logit);
    const double q_sink = plain::exp(log_t[k] + sink);
    // No key below loses more than this one.
    const double most = -plain::expm1(-q);
    const double sum = lost[k] / below;
    const double less = sum < most ? sum : most;
    const double others = plain::exp((keys - 2) * plain::log1p(-less));
    const double next = (keys - 1) * kept[k] / below;
    kept[k] = q * plain::exp(-q - q_sink) * others * (1 - less - next);
  }
}

// Twice the log of a key's weight before the division. No one asks for its derivative.
LogitLaw law_of_squares(const LogitLaw& law, const std::optional<double>& bias) {
  const auto log_square = [logit = law.logit, bias](double at) {
    const double x = logit(at).logit + bias.value_or(0);
    const double log_weight =
        bias ? std::min(x, 0.0) - plain::log1p(plain::exp_of_negative(-std::abs(x))) : x;
    return LogitPoint{2 * log_weight, 0};
  };
  return {law.lowest, law.highest, law.log_density, log_square};
}

double effective_keys(const LogitLaw& squares, double keys) {
  const KeyGrid grid = make_key_grid(squares, keys, GridKeys::kAll);
  const Steps all{step_at(kLeastPart - 1 - 2 * plain::log(keys), grid.panels.back().high_logit),
                  step_at(kAllGone + 1, grid.panels.front().low_logit)};
  const std::vector<double> log_u = all.values();
  const std::size_t points = log_u.size();
  // Sums over keys at every log u: of 1 - e^-q, of sqrt(q) e^-q, and of what they are to the left
  // and to the right of the steps at which a key is looked at.
  std::vector<double> lost(points), root(points);
  std::vector<double> left_lost(points), left_root(points), gone(points + 1);
  for (const KeyPanel& panel : grid.panels) {
    for (std::size_t i = 0; i < panel.nodes.size(); ++i) {
      const double logit = panel.nodes[i].logit;
      const double mass = grid.rule.weight(i) * panel.nodes[i].mass;
      const Steps own{step_at(kLeastPart, logit), step_at(kAllGone, logit)};
      const std::size_t begin = own.offset_in(all);
      add_squares(log_u.data() + begin, own.size(), logit, mass, lost.data() + begin,
                  root.data() + begin);
      gone[begin + own.size()] += mass;
      const double q = plain::exp(log_u[begin - 1] + logit);
      left_lost[begin - 1] += mass * q;
      left_root[begin - 1] += mass * std::sqrt(q);
    }
  }
  const double less = plain::exp(-kPairStep);
  double lost_left = 0;
  double root_left = 0;
  for (std::size_t k = points; k-- > 0;) {
    lost[k] += lost_left = less * lost_left + left_lost[k];
    root[k] += root_left = std::sqrt(less) * root_left + left_root[k];
  }
  double pairs = 0;
  double lost_right = 0;
  for (std::size_t k = 0; k < points; ++k) {
    lost_right += gone[k];
    const double sum = std::min(lost[k] + lost_right, kNearestToOne);
    pairs += root[k] * root[k] * plain::exp((keys - 2) * plain::log1p(-sum));
  }
  return 1 + keys * (keys - 1) * kPairStep * pairs;
}

// The sums over keys above and below at every log t, panel by panel.
class SoftmaxMargin {
 public:
  SoftmaxMargin(const LogitLaw& law, double keys, double sink)
      : keys_(keys),
        sink_(sink),
        grid_(make_key_grid(law, keys, GridKeys::kOfWeight)),
        all_(steps_of(grid_.panels.front().low_logit, grid_.panels.back().high_logit)),
        log_t_(all_.values()) {}

  double mean() {
    // From the highest panel down: the sums over keys above each.
    std::vector<std::vector<double>> above(grid_.panels.size());
    std::vector<double> sums(all_.size());
    for (std::size_t p = grid_.panels.size(); p-- > 0;) {
      const Steps own = fill(grid_.panels[p]);
      const auto here = std::span(sums).subspan(own.offset_in(all_), own.size());
      above[p].assign(here.begin(), here.end());
      for (std::size_t j = 0; j < weights_.size(); ++j) weights_[j] = mass(grid_.panels[p], j);
      add_weighted(kept_.data(), own.size(), weights_, here);
    }
    std::ranges::fill(sums, 0.0);
    double margin = 0;
    for (std::size_t p = 0; p < grid_.panels.size(); ++p) {
      const KeyPanel& panel = grid_.panels[p];
      const Steps own = fill(panel);
      const auto below = std::span(sums).subspan(own.offset_in(all_), own.size());
      for (std::size_t i = 0; i < panel.nodes.size(); ++i) {
        const KeyNode& node = panel.nodes[i];
        if (std::max(node.top_weight, node.next_weight) < kNoPair) continue;
        above_ = above[p];
        below_.assign(below.begin(), below.end());
        for (std::size_t j = 0; j < weights_.size(); ++j) {
          weights_[j] = grid_.rule.below(i, j) * panel.nodes[j].mass;
        }
        add_weighted(lost_.data(), own.size(), weights_, below_);
        for (std::size_t j = 0; j < weights_.size(); ++j)
          weights_[j] = mass(panel, j) - weights_[j];
        add_weighted(kept_.data(), own.size(), weights_, above_);
        const Steps part{own.first, std::min(own.last, steps_of(node.logit, node.logit).last)};
        fill_margin(log_t_.data() + own.offset_in(all_), part.size(), node.logit, sink_, keys_,
                    node.below, below_.data(), above_.data());
        double sum = 0;
        for (std::size_t k = 0; k < part.size(); ++k) sum += above_[k];
        margin += node.top_weight * kPairStep * sum;
      }
      for (std::size_t j = 0; j < weights_.size(); ++j) weights_[j] = mass(panel, j);
      add_weighted(lost_.data(), own.size(), weights_, below);
    }
    return margin;
  }

 private:
  Steps steps_of(double low, double high) const {
    return {step_at(kLeastPart - plain::log(keys_), high), step_at(kAllGone, std::max(low, sink_))};
  }

  double mass(const KeyPanel& panel, std::size_t j) const {
    return grid_.rule.weight(j) * panel.nodes[j].mass;
  }

  // The panel's keys, a row for each node.
  Steps fill(const KeyPanel& panel) {
    Steps own = steps_of(panel.low_logit, panel.high_logit);
    own = {std::max(own.first, all_.first), std::min(own.last, all_.last)};  // but for rounding
    const std::size_t points = own.size();
    weights_.resize(panel.nodes.size());
    kept_.resize(panel.nodes.size() * points);
    lost_.resize(kept_.size());
    for (std::size_t j = 0; j < panel.nodes.size(); ++j) {
      fill_kept(log_t_.data() + own.offset_in(all_), points, panel.nodes[j].logit,
                kept_.data() + j * points, lost_.data() + j * points);
    }
    return own;
  }

  double keys_;
  double sink_;
  KeyGrid grid_;
  Steps all_;
  std::vector<double> log_t_;
  std::vector<double> kept_, lost_, weights_, above_, below_;
};

// Each key's weight is its own.
double sigmoid_margin(const LogitLaw& law, double keys, double bias) {
  double margin = 0;
  for (const KeyPanel& panel : make_key_grid(law, keys, GridKeys::kAll).panels) {
    for (const KeyNode& node : panel.nodes) {
      margin += (node.top_weight - node.next_weight) / (1 + plain::exp(-node.logit - bias));
    }
  }
  return margin;
}

}  // namespace

ExactMeans pair_means(const LogitLaw& law, const WeighingCase& weighing) {
  const auto keys = static_cast<double>(weighing.keys);
  const auto bias = weighing.sigmoid_bias;
  ExactMeans means;
  means[kEffectiveKeys] = effective_keys(law_of_squares(law, bias), keys);
  means[kWeightMargin] =
      bias ? sigmoid_margin(law, keys, *bias) : SoftmaxMargin(law, keys, weighing.sink).mean();
  return means;
}

double pair_means_work(double logit_range, const WeighingCase& weighing) {
  constexpr double kEach = 20;
  const double log_keys = plain::log(static_cast<double>(weighing.keys));
  const double points = (kAllGone - kLeastPart + log_keys) / kPairStep;
  // Squares of weights have twice the range, all of it.
  return (2 * key_grid_nodes(2 * logit_range) + key_grid_nodes(logit_range)) * points * kEach;
}

}  // namespace attnscale
