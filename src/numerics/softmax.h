// Softmax of many queries at once, without overflow or cancellation: every sum is taken with the
// query's top key separated. Vector kernel, one query per lane, so that a query's numbers never
// depend on the width of the machine's vectors. Knows nothing of scalings or metrics.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "numerics/lanes.h"
#include "numerics/softmax_query.h"
#include "numerics/vector_clones.h"

namespace attnscale {

/// How much of SoftmaxQuery is summed; each level has what those before it have.
enum class SoftmaxLevel {
  kWeights,  ///< all but those below, which are NaN
  kEntropy,  ///< log_total
  kPowers,   ///< rest_power2 to rest_power4
};

/// Running sums of a group of queries, fed with tiles of keys in order; keys may come in any
/// number of tiles, so that memory does not grow with them. Structure of arrays of length stride.
class SoftmaxSums {
 public:
  /// Starts over for a group of `queries` queries that have seen no key.
  void start(std::int64_t queries, SoftmaxLevel level = SoftmaxLevel::kPowers);

  /// Takes `keys` more logits of every query: logits[key * stride + query], where stride is
  /// padded(queries). Lanes past the last query must hold finite numbers and are ignored.
  void add_keys(std::span<const double> logits, std::int64_t keys);

  /// Ends the group. Every query has one more logit, the sink's, whose weight belongs to no key.
  void finish(double sink_logit = -std::numeric_limits<double>::infinity());

  std::int64_t queries() const { return queries_; }

  /// The finished sums of one query of the group.
  ATTNSCALE_INLINED SoftmaxQuery query(std::int64_t index) const {
    const auto at = [&](std::int64_t column) {
      return columns_[static_cast<std::size_t>(column * stride_ + index)];
    };
    return {at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9), at(10)};
  }

 private:
  std::int64_t queries_ = 0;
  std::int64_t stride_ = 0;
  SoftmaxLevel level_ = SoftmaxLevel::kPowers;
  bool empty_ = true;
  std::vector<double> columns_;  // kColumns columns of stride_ doubles, in SoftmaxQuery's order
};

/// Replaces every number by exp(number - top), 0 below -708. Numbers are at most `top`, and their
/// count is a multiple of kLanes.
void exponentials_below(double top, std::span<double> numbers);

}  // namespace attnscale
