// A histogram with bins of equal relative width: quantiles within 0.79 % whatever the range, from
// counts alone. Merging adds counts, so order never matters. Knows nothing of what is measured.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace attnscale {

/// Counts of doubles by their leading bits: sign, exponent and 6 bits of fraction, so that every
/// octave has 64 bins and a bin's middle is within 1/128 of each of its values, relatively.
/// Sparse: memory is one page of 64 counts per octave that holds a value.
class QuantileSketch {
 public:
  static constexpr std::int32_t kLowestBin = -(1 << 17);
  static constexpr std::int32_t kHighestBin = 3 << 17;

  /// Counts finite values.
  void add(std::span<const double> values);
  void add(double value) { add({&value, 1}); }

  /// Counts values of [0, 1] given with their complements 1 - value, each exact in its own right:
  /// above one half the complement is binned, so that values near 1 are resolved as finely as
  /// values near 0. A sketch holds either kind, never both.
  void add_with_complements(std::span<const double> values, std::span<const double> complements);
  void add_with_complement(double value, double complement) {
    add_with_complements({&value, 1}, {&complement, 1});
  }

  /// Adds the counts of another sketch of the same kind.
  void merge(const QuantileSketch& other);

  std::int64_t count() const { return count_; }

  /// The value at rank ceil(q * count), q in (0, 1], as the middle of its bin: within a relative
  /// 1/128 of the order statistic (of its complement, above one half, where complements were
  /// given). Numbers below the smallest normal double count as 0. Empty if the sketch is.
  std::optional<double> quantile(double q) const;

  /// Whether the extremes of what was counted can be these: each in the outermost bin of its end,
  /// up to rounding; low above high if nothing was counted.
  bool can_reach(double low, double high) const;

  /// The middle of each bin that holds something, ascending, and how many values it holds.
  std::vector<std::pair<double, std::int64_t>> values() const;

  /// Bins that hold something, in ascending order of value, for storing and restoring a sketch.
  /// All lie between kLowestBin and kHighestBin.
  std::vector<std::pair<std::int32_t, std::int64_t>> bins() const;
  static QuantileSketch from_bins(const std::vector<std::pair<std::int32_t, std::int64_t>>& bins);

  /// Equal where they hold the same counts.
  friend bool operator==(const QuantileSketch& a, const QuantileSketch& b) {
    return a.bins() == b.bins();
  }

 private:
  static constexpr std::int32_t kPageSize = 64;
  static constexpr std::int32_t kNoPage = -1;
  using Page = std::array<std::int64_t, kPageSize>;

  template <typename BinAt>
  void add_bins(std::size_t count, const BinAt& bin_at);

  /// The counts of an octave: new ones where it has had no value yet.
  Page& page(std::int32_t octave);
  Page& new_page(std::int32_t octave);

  std::int64_t count_ = 0;
  std::vector<Page> pages_;                // in the order in which they were needed
  std::int32_t first_octave_ = 0;          // the lowest that has had a value
  std::vector<std::int32_t> page_places_;  // from first_octave_ on: place in pages_, or kNoPage
};

}  // namespace attnscale
