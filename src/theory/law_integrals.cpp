#include "theory/law_integrals.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "numerics/portable_math.h"
#include "theory/key_grid.h"

namespace attnscale {
namespace {

using enum ExactMean;

constexpr double kStep = 0.42;      // in log t
constexpr double kLeftLog = -20.5;  // of t times e^top times keys: e^-20.5 is 1e-9
constexpr double kRightLog = 3.3;   // of t e^top: exp(-e^3.3) is 2e-12
constexpr double kNoWeight = 1e-14;

// Whole steps of log t.
struct Window {
  std::int64_t first;
  std::int64_t last;

  std::size_t size() const { return last < first ? 0 : static_cast<std::size_t>(last - first) + 1; }
};

// The sums over keys below a top one at every log t, from the lowest panel up.
class RunningSums {
 public:
  RunningSums(double keys, double sink, double lowest_logit, double highest_logit)
      : log_keys_(plain::log(keys)), sink_(sink), all_(window(lowest_logit, highest_logit)) {
    for (std::int64_t k = all_.first; k <= all_.last; ++k) {
      log_t_.push_back(kStep * static_cast<double>(k));
    }
    sums_.resize(OtherSums::kFunctions * log_t_.size());
    step_.assign(log_t_.size(), kStep);
  }

  // The log t that top keys of logits in [low, high] need.
  Window window(double low, double high) const {
    const double left = kLeftLog - log_keys_ - std::max(high, sink_);
    const double right = kRightLog - std::max(low, sink_);
    return {static_cast<std::int64_t>(std::floor(left / kStep)),
            static_cast<std::int64_t>(std::floor(right / kStep))};
  }

  // Adds the parts of a panel's top keys to means, then the panel's keys to the sums.
  void add(const KeyPanel& panel, const PanelRule& rule, TopKeyTerms& terms, ExactMeans& means) {
    // Left of its window a key is nothing to the sums, even of n such keys: e^kLeftLog. Higher top
    // keys, whose windows begin further left, find sums of 0 there.
    const Window wide = window(panel.low_logit, panel.high_logit);
    const std::size_t points = wide.size();
    const std::size_t row = OtherSums::kFunctions * points;
    const std::size_t offset = static_cast<std::size_t>(wide.first - all_.first);
    const std::span<const double> log_t(log_t_.data() + offset, points);
    const std::size_t nodes = panel.nodes.size();
    functions_.resize(nodes * row);
    weights_.resize(nodes);
    for (std::size_t j = 0; j < nodes; ++j) {
      fill_other_key(log_t, panel.nodes[j].logit, functions_.data() + j * row, points);
    }
    below_.resize(row);
    for (std::size_t i = 0; i < nodes; ++i) {
      const KeyNode& node = panel.nodes[i];
      if (!(node.top_weight > kNoWeight)) continue;
      start(offset, points);
      for (std::size_t j = 0; j < nodes; ++j) {
        weights_[j] = rule.below(i, j) * panel.nodes[j].mass;
      }
      add_weighted(functions_.data(), row, weights_, below_);
      const Window own = window(node.logit, node.logit);
      const auto skip = static_cast<std::size_t>(own.first - wide.first);
      terms.add({node.top_weight, node.logit, node.derivative}, log_t.subspan(skip, own.size()),
                {step_.data(), own.size()}, {below_.data() + skip, points}, node.below, means);
    }
    for (std::size_t j = 0; j < nodes; ++j) weights_[j] = rule.weight(j) * panel.nodes[j].mass;
    for (std::size_t f = 0; f < OtherSums::kFunctions; ++f) {
      add_weighted(functions_.data() + f * points, row, weights_,
                   std::span(sums_).subspan(f * log_t_.size() + offset, points));
    }
  }

 private:
  void start(std::size_t offset, std::size_t points) {
    for (std::size_t f = 0; f < OtherSums::kFunctions; ++f) {
      const auto from = sums_.begin() + static_cast<std::ptrdiff_t>(f * log_t_.size() + offset);
      std::copy_n(from, points, below_.begin() + static_cast<std::ptrdiff_t>(f * points));
    }
  }

  double log_keys_;
  double sink_;
  Window all_;
  std::vector<double> log_t_, step_;
  std::vector<double> sums_;  // a row over all log t for each function
  std::vector<double> functions_, weights_, below_;
};

// What no weight rule changes.
void add_margin(const KeyGrid& grid, double keys, ExactMeans& means) {
  if (keys < 2) return;
  for (const KeyPanel& panel : grid.panels) {
    for (const KeyNode& node : panel.nodes) {
      // The next-to-top key has the density n (n - 1) F^(n-2) (1 - F) f, the top one n F^(n-1) f.
      means[kMargin] += node.logit * (node.top_weight - node.next_weight);
    }
  }
}

}  // namespace

ExactMeans softmax_means(const LogitLaw& law, std::int64_t keys, double sink) {
  const auto n = static_cast<double>(keys);
  const KeyGrid grid = make_key_grid(law, n, GridKeys::kOfWeight);
  ExactMeans means;
  TopKeyTerms terms(n, sink);
  RunningSums sums(n, sink, grid.panels.front().low_logit, grid.panels.back().high_logit);
  for (const KeyPanel& panel : grid.panels) sums.add(panel, grid.rule, terms, means);
  add_margin(grid, n, means);
  return means;
}

ExactMeans sigmoid_means(const LogitLaw& law, std::int64_t keys, double bias) {
  const auto n = static_cast<double>(keys);
  const KeyGrid grid = make_key_grid(law, n, GridKeys::kAll);
  ExactMeans means;
  for (const KeyPanel& panel : grid.panels) {
    for (std::size_t i = 0; i < panel.nodes.size(); ++i) {
      const KeyNode& node = panel.nodes[i];
      const double x = node.logit + bias;
      const double small = plain::exp_of_negative(-std::abs(x));
      const double p = (x > 0 ? 1 : small) / (1 + small);
      const double slope = small / ((1 + small) * (1 + small));
      const double log_p = std::min(x, 0.0) - plain::log1p(small);
      const double mass = n * grid.rule.weight(i) * node.mass;
      means[kTopWeight] += node.top_weight * p;
      means[kSlope] += node.top_weight * slope;
      means[kScoreSlope] += node.top_weight * slope * node.derivative;
      means[kSumP2] += mass * p * p;
      means[kEntropy] -= mass * p * log_p;
      means[kMeanLogit] += mass * p * node.logit;
      means[kTotalWeight] += mass * p;
    }
  }
  add_margin(grid, n, means);
  return means;
}

EvenMoments even_moments(const LogitLaw& law) {
  const KeyGrid grid = make_key_grid(law, 1, GridKeys::kAll);
  EvenMoments moments{};
  for (const KeyPanel& panel : grid.panels) {
    for (std::size_t i = 0; i < panel.nodes.size(); ++i) {
      const double square = panel.nodes[i].logit * panel.nodes[i].logit;
      moments.second += grid.rule.weight(i) * panel.nodes[i].mass * square;
      moments.fourth += grid.rule.weight(i) * panel.nodes[i].mass * square * square;
    }
  }
  return moments;
}

double softmax_means_work(double logit_range, std::int64_t keys) {
  const double points = (kRightLog - kLeftLog + plain::log(static_cast<double>(keys))) / kStep;
  constexpr double kEach = 28;  // multiplications of a node at a log t: its sums and integrands
  return key_grid_nodes(logit_range) * points * kEach;
}

double one_key_work(double logit_range) {
  constexpr double kEach = 200;
  return key_grid_nodes(logit_range) * kEach;
}

}  // namespace attnscale
