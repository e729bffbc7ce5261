// One law of logits on a grid: panels of Gauss-Legendre nodes with the density of a key, of the top
// key of n and of the next, fine enough for everything that changes with the logit on a scale of 1.
#pragma once

#include <cstddef>
#include <vector>

#include "theory/logit_law.h"

namespace attnscale {

/// Nodes on [-1, 1] and the integrals of the polynomial through values at them.
class PanelRule {
 public:
  explicit PanelRule(int points);

  std::size_t size() const { return node_.size(); }
  double node(std::size_t i) const { return node_[i]; }
  double weight(std::size_t i) const { return weight_[i]; }
  /// How large the last two Legendre coefficients of that polynomial are.
  double last_coefficients(const std::vector<double>& values) const;
  /// Weight of the value at node j in the integral from -1 up to node i.
  double below(std::size_t i, std::size_t j) const { return below_[i * node_.size() + j]; }

 private:
  std::vector<double> node_, weight_, below_, last_, last_but_one_;
};

struct KeyNode {
  double logit;
  double derivative;   ///< dlogit / dscore
  double mass;         ///< density of a key, times half the panel's width
  double below;        ///< P(a key lies lower)
  double top_weight;   ///< quadrature weight times density of the top key
  double next_weight;  ///< quadrature weight times density of the next to the top; 0 for one key
};

struct KeyPanel {
  double low_logit;
  double high_logit;
  std::vector<KeyNode> nodes;
};

/// Which keys a grid holds: all, or those that may have a softmax weight beside some top key.
enum class GridKeys { kAll, kOfWeight };

/// Panels in ascending order.
struct KeyGrid {
  PanelRule rule;
  std::vector<KeyPanel> panels;
};

KeyGrid make_key_grid(const LogitLaw& law, double keys, GridKeys wanted);

/// About as many nodes as a grid has where logits lie in a range this wide.
double key_grid_nodes(double logit_range);

}  // namespace attnscale
