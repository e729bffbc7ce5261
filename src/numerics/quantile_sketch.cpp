#include "numerics/quantile_sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace attnscale {
namespace {

// A double's sign, exponent and first 6 bits of fraction: 64 bins an octave.
constexpr int kDroppedBits = 46;
constexpr std::int32_t kBinsPerOctave = 64;
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
  if (bin < kBinsPerOctave) return 0;
  const auto leading = static_cast<std::uint64_t>(bin) << kDroppedBits;
  return std::bit_cast<double>(leading | (std::uint64_t{1} << (kDroppedBits - 1)));
}

// The value that a bin stands for. No value in [0, 1/2], and no finite value, has a bin above the
// sign bit: it is a complement's.
double value_of(std::int32_t bin) {
  return bin > kSignBit ? 1 - middle_of(kComplementTop - bin) : middle_of(bin);
}

// Pages of 64 bins; the shifts of negative bins round down, as C++20 has it.
std::int32_t page_of(std::int32_t bin) {
  return bin >> 6;
}
std::size_t place_of(std::int32_t bin) {
  return static_cast<std::size_t>(bin & 63);
}

}  // namespace

template <typename BinAt>
void QuantileSketch::add_bins(std::size_t count, const BinAt& bin_at) {
  // Values crowd in a few octaves: their pages are looked up once.
  struct Known {
    std::int32_t page = 0;
    Page* counts = nullptr;
  };
  std::array<Known, 32> known{};
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t bin = bin_at(i);
    Known& entry = known[static_cast<std::size_t>(page_of(bin)) % known.size()];
    if (!entry.counts || entry.page != page_of(bin)) {
      entry = {page_of(bin), &pages_[page_of(bin)]};
    }
    ++(*entry.counts)[place_of(bin)];
  }
  count_ += static_cast<std::int64_t>(count);
}

void QuantileSketch::add(std::span<const double> values) {
  add_bins(values.size(), [&](std::size_t i) { return bin_of(values[i]); });
}

void QuantileSketch::add_with_complements(std::span<const double> values,
                                          std::span<const double> complements) {
  add_bins(values.size(), [&](std::size_t i) {
    return values[i] <= complements[i] ? bin_of(values[i])
                                       : kComplementTop - bin_of(complements[i]);
  });
}

void QuantileSketch::merge(const QuantileSketch& other) {
  for (const auto& [page, theirs] : other.pages_) {
    Page& ours = pages_[page];
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
      return value_of(page * kPageSize + i);
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

std::vector<std::pair<double, std::int64_t>> QuantileSketch::values() const {
  std::vector<std::pair<double, std::int64_t>> values;
  for (const auto& [bin, times] : bins()) values.emplace_back(value_of(bin), times);
  return values;
}

QuantileSketch QuantileSketch::from_bins(
    const std::vector<std::pair<std::int32_t, std::int64_t>>& bins) {
  QuantileSketch sketch;
  for (const auto& [bin, times] : bins) {
    sketch.pages_[page_of(bin)][place_of(bin)] += times;
    sketch.count_ += times;
  }
  return sketch;
}

}  // namespace attnscale
