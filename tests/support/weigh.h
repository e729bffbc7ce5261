// Softmax weights of one query, for tests that look at each of them.
#pragma once

#include <span>
#include <vector>

#include "numerics/query_weights.h"

namespace attnscale {

/// One weight with its complement 1 - p.
struct Weight {
  double p;
  double complement;
  double slope() const { return p * complement; }
};

inline std::vector<Weight> softmax_weights(std::span<const double> logits) {
  QueryWeights query;
  query.weigh(logits, {}, 0);
  std::vector<Weight> weights;
  for (std::size_t key = 0; key < logits.size(); ++key) {
    weights.push_back({query.weights()[key], query.complements()[key]});
  }
  return weights;
}

}  // namespace attnscale
