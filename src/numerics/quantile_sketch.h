// A histogram with bins of equal relative width: quantiles within 0.79 % whatever the range, from
// counts alone. Merging adds counts, so order never matters. Knows nothing of what is measured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace attnscale {

/// Counts of doubles by their leading bits: sign, exponent and 6 bits of fraction, so that every
/// octave has 64 bins and a bin's middle is within 1/128 of each of its values, relatively.
/// Sparse: memory is one page of 64 counts per octave that holds a value.
class QuantileSketch {
 public:
  /// Counts one finite value.
  void add(double value);

  /// Counts one value of [0, 1] given with its complement 1 - value, each exact in its own right:
  /// above one half the complement is binned, so that values near 1 are resolved as finely as
  /// values near 0. A sketch holds either kind, never both.
  void add_with_complement(double value, double complement);

  /// Adds the counts of another sketch of the same kind.
  void merge(const QuantileSketch& other);

  std::int64_t count() const { return count_; }

  /// The value at rank ceil(q * count), q in (0, 1], as the middle of its bin: within a relative
  /// 1/128 of the order statistic (of its complement, above one half, where complements were
  /// given). Nothing where the sketch is empty.
  std::optional<double> quantile(double q) const;

  /// Bins that hold something, in ascending order of value, for storing and restoring a sketch.
  std::vector<std::pair<std::int32_t, std::int64_t>> bins() const;
  static QuantileSketch from_bins(const std::vector<std::pair<std::int32_t, std::int64_t>>& bins);

  friend bool operator==(const QuantileSketch&, const QuantileSketch&) = default;

 private:
  void add_bin(std::int32_t bin, std::int64_t times);

  std::int64_t count_ = 0;
  std::map<std::int32_t, std::vector<std::int64_t>> pages_;
};

}  // namespace attnscale
