// Which step of the way from entries to weights rounds to which format, and in which order a
// softmax sums. Knows nothing of how a step is computed.
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
  /// Queries and keys as they are stored. Errors are against float64 of the same stored numbers.
  Precision entries = Precision::kFloat64;
  Precision scaled_queries = Precision::kFloat64;  ///< once multiplied by what stands on q in q.k
  Precision quantised = Precision::kFloat64;       ///< both vectors of the product, last of all
  Precision product_sum = Precision::kFloat64;     ///< each partial sum of it, entry by entry
  Precision product = Precision::kFloat64;         ///< the score, with the factors inside q.k
  /// What the formula does to it; of a sigmoid also the biased logit.
  Precision logit = Precision::kFloat64;
  /// Of the difference from the largest logit, which is rounded to the first of the two formats in
  /// the order of the enum, as a softmax widens narrow logits; of a sigmoid also 1 + exponential.
  Precision exponential = Precision::kFloat64;
  Precision sum =
      Precision::kFloat64;  ///< partial sums, and in tiles what is rescaled; no sigmoid's
  Precision weight = Precision::kFloat64;  ///< weights, their complements and slopes
  /// Of the output, a sum of weights times values in float64.
  Precision output = Precision::kFloat64;
  SumOrder sum_order = SumOrder::kSequential;
  std::int64_t tile_keys = 0;  ///< of kTiles

  constexpr PrecisionSteps() = default;

  /// Every step to the weights in that format but the sum, which accelerators take in float32.
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

  /// True if the score is not that of the entries as they are drawn, so that each is needed.
  constexpr bool takes_entries() const {
    return entries != Precision::kFloat64 || scaled_queries != Precision::kFloat64 ||
           quantised != Precision::kFloat64 || product_sum != Precision::kFloat64;
  }

  /// True if weights are made of scores without a rounding but those of doubles.
  constexpr bool has_exact_weights() const {
    return has_exact_logits() && exponential == Precision::kFloat64 && sum == Precision::kFloat64 &&
           weight == Precision::kFloat64;
  }

  /// True if no step is narrower than float64, so that no order of a sum is emulated either.
  constexpr bool is_exact() const {
    return has_exact_weights() && !takes_entries() && output == Precision::kFloat64;
  }

  friend bool operator==(const PrecisionSteps&, const PrecisionSteps&) = default;
};

}  // namespace attnscale
