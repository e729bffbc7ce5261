// Which step of the way from scores to weights rounds to which format, and in which order a softmax
// sums. Knows nothing of how a step is computed.
#pragma once

#include <cstdint>

#include "numerics/precision.h"

namespace attnscale {

/// How the exponentials of a softmax are summed, each partial sum in the format of sums.
enum class SumOrder {
  kSequential,  ///< key by key
  kPairwise,    ///< neighbours first, then the sums of neighbours, and so on
  /// Key by key in each tile of keys, relative to the largest logit up to its end; then added to
  /// what came before, rescaled where that logit grew (online softmax, arXiv:1805.02867).
  kTiles,
};

/// The format of each step; float64 unless it says otherwise.
struct PrecisionSteps {
  Precision product = Precision::kFloat64;  ///< the score, with the factors inside q.k
  /// What the formula does to it, and the difference from the largest logit; of a sigmoid the
  /// biased logit.
  Precision logit = Precision::kFloat64;
  Precision exponential = Precision::kFloat64;  ///< of a sigmoid also 1 + exponential
  Precision sum =
      Precision::kFloat64;  ///< partial sums, and in tiles what is rescaled; no sigmoid's
  Precision weight = Precision::kFloat64;  ///< weights, their complements and slopes
  SumOrder sum_order = SumOrder::kSequential;
  std::int64_t tile_keys = 0;  ///< of kTiles

  constexpr PrecisionSteps() = default;

  /// Every step in that format but the sum, which accelerators take in float32.
  constexpr PrecisionSteps(Precision all)
      : product(all),
        logit(all),
        exponential(all),
        sum(all == Precision::kFloat64 ? Precision::kFloat64 : Precision::kFloat32),
        weight(all) {}

  /// True if scores become logits without a rounding but that of doubles.
  constexpr bool has_exact_logits() const {
    return product == Precision::kFloat64 && logit == Precision::kFloat64;
  }

  /// True if no step is narrower than float64, so that no order of a sum is emulated either.
  constexpr bool is_exact() const {
    return has_exact_logits() && exponential == Precision::kFloat64 && sum == Precision::kFloat64 &&
           weight == Precision::kFloat64;
  }

  friend bool operator==(const PrecisionSteps&, const PrecisionSteps&) = default;
};

}  // namespace attnscale
