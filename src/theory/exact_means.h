// The exact means that theory knows: what metrics of weights are on average, one number each.
// Knows nothing of how they are computed.
#pragma once

#include <array>
#include <cstddef>

namespace attnscale {

/// Means over queries of the metrics of these names; top is the key of the largest logit. With a
/// sink, weights are e^logit / (sum of e^logit over keys + e^sink). The sink is no key: it is never
/// the top, sum_p2 and entropy sum over keys alone, and -p ln p of the sink is a mean of its own.
enum class ExactMean : std::size_t {
  kTopWeight,
  kSlope,       ///< p (1 - p) of the top key, against a sink too
  kScoreSlope,  ///< p (1 - p) dlogit / dscore of the top key
  kSumP2,
  kEntropy,      ///< nats
  kMargin,       ///< top logit less the next
  kMeanLogit,    ///< sum p logit over keys
  kTotalWeight,  ///< sum p over keys: 1 without a sink, which checks a quadrature
  kSinkWeight,
  kSinkEntropy,  ///< nats
  kSquaredSinkWeight,
  kEffectiveKeys,  ///< (sum p)^2 / sum p^2 over keys
  kWeightMargin,   ///< top weight less the next
};

/// A number for each ExactMean, 0 at first.
class ExactMeans {
 public:
  static constexpr std::size_t kCount = static_cast<std::size_t>(ExactMean::kWeightMargin) + 1;

  double& operator[](ExactMean mean) { return values_[static_cast<std::size_t>(mean)]; }
  double operator[](ExactMean mean) const { return values_[static_cast<std::size_t>(mean)]; }

  std::array<double, kCount>& values() { return values_; }
  const std::array<double, kCount>& values() const { return values_; }

  ExactMeans& operator+=(const ExactMeans& other) {
    for (std::size_t i = 0; i < kCount; ++i) values_[i] += other.values_[i];
    return *this;
  }

  /// Product of each two of the same name.
  friend ExactMeans operator*(ExactMeans a, const ExactMeans& b) {
    for (std::size_t i = 0; i < kCount; ++i) a.values_[i] *= b.values_[i];
    return a;
  }

  friend ExactMeans operator*(double factor, ExactMeans means) {
    for (double& value : means.values_) value *= factor;
    return means;
  }

 private:
  std::array<double, kCount> values_{};
};

}  // namespace attnscale
