// Sums of powers of a query's logits about a fixed centre, fed tile by tile beside the softmax.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "numerics/lanes.h"

namespace attnscale {

/// What powers of logits are taken of: (logit - centre) / unit. The unit is a power of two near the
/// logits' spread, so that no power overflows or underflows.
struct PowerScale {
  double centre = 0;
  double unit = 1;
};

/// For each query of a group, the sums over its keys of the scaled logit's powers 1 ... `powers`.
class PowerSums {
 public:
  /// Starts over for a group of `queries` queries; `powers` is 0, 2 or 4.
  void start(std::int64_t queries, int powers);

  /// Takes `keys` more logits of every query: logits[key * padded(queries) + query].
  void add_keys(std::span<const double> logits, std::int64_t keys, PowerScale scale);

  /// Mean over the keys seen of power k + 1 of query `index`.
  double mean(std::size_t k, std::int64_t index) const {
    const std::size_t place =
        k * static_cast<std::size_t>(stride_) + static_cast<std::size_t>(index);
    return sums_[place] / static_cast<double>(keys_);
  }

 private:
  std::int64_t stride_ = 0;
  std::int64_t keys_ = 0;
  int powers_ = 0;
  std::vector<double> sums_;  // powers_ columns of stride_ doubles
};

}  // namespace attnscale
