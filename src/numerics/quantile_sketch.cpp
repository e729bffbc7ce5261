#include "numerics/quantile_sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace attnscale {
namespace {

// A double's sign, exponent and first 6 bits of fraction: 64 bins an octave.
constexpr int kDroppedBits = 46;
constexpr std::int32_t kPageSize = 64;
constexpr std::int32_t kSignBit = 1 << (63 - kDroppedBits);

// Bins of complements are counted down from here, above every bin of a value in [0, 1/2].
constexpr std::int32_t kComplementTop = 2 * kSignBit;

// Bins ascend with the value: negative values get negative bins, the larger the more negative.
std::int32_t bin_of(double value) {
  const auto leading =
      static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(std::abs(value)) >> kDroppedBits);
  return value < 0 ? -leading - 1 : leading;
}

double middle_of(std::int32_t bin) {
  if (bin < 0) return -middle_of(-bin - 1);
  // Below the normal range a bin is narrower than any number of interest: it stands for zero.
  if (bin < kPageSize) return 0;
  const auto leading = static_cast<std::uint64_t>(bin) << kDroppedBits;
  return std::bit_cast<double>(leading | (std::uint64_t{1} << (kDroppedBits - 1)));
}

std::int32_t page_of(std::int32_t bin) {
  return bin >= 0 ? bin / kPageSize : -((-bin - 1) / kPageSize) - 1;
}

}  // namespace

void QuantileSketch::add(double value) {
  add_bin(bin_of(value), 1);
}

void QuantileSketch::add_with_complement(double value, double complement) {
  add_bin(value <= complement ? bin_of(value) : kComplementTop - bin_of(complement), 1);
}

void QuantileSketch::add_bin(std::int32_t bin, std::int64_t times) {
  const std::int32_t page = page_of(bin);
  std::vector<std::int64_t>& counts = pages_[page];
  if (counts.empty()) counts.resize(kPageSize);
  counts[static_cast<std::size_t>(bin - page * kPageSize)] += times;
  count_ += times;
}

void QuantileSketch::merge(const QuantileSketch& other) {
  for (const auto& [page, theirs] : other.pages_) {
    std::vector<std::int64_t>& ours = pages_[page];
    if (ours.empty()) ours.resize(kPageSize);
    for (std::size_t i = 0; i < theirs.size(); ++i) ours[i] += theirs[i];
  }
  count_ += other.count_;
}

std::optional<double> QuantileSketch::quantile(double q) const {
  if (count_ == 0) return std::nullopt;
  const auto rank = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_))));
  std::int64_t seen = 0;
  for (const auto& [page, counts] : pages_) {
    for (std::int32_t i = 0; i < kPageSize; ++i) {
      seen += counts[static_cast<std::size_t>(i)];
      if (seen < rank) continue;
      const std::int32_t bin = page * kPageSize + i;
      // No value in [0, 1/2], and no finite value, has a bin this high: it is a complement's.
      return bin > kSignBit ? 1 - middle_of(kComplementTop - bin) : middle_of(bin);
    }
  }
  return std::nullopt;
}

std::vector<std::pair<std::int32_t, std::int64_t>> QuantileSketch::bins() const {
  std::vector<std::pair<std::int32_t, std::int64_t>> filled;
  for (const auto& [page, counts] : pages_) {
    for (std::int32_t i = 0; i < kPageSize; ++i) {
      const std::int64_t times = counts[static_cast<std::size_t>(i)];
      if (times != 0) filled.emplace_back(page * kPageSize + i, times);
    }
  }
  return filled;
}

QuantileSketch QuantileSketch::from_bins(
    const std::vector<std::pair<std::int32_t, std::int64_t>>& bins) {
  QuantileSketch sketch;
  for (const auto& [bin, times] : bins) sketch.add_bin(bin, times);
  return sketch;
}

}  // namespace attnscale
