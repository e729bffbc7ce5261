#include "numerics/quantile_sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace attnscale {
namespace {

// A double's sign, exponent and first 6 bits of fraction: 64 bins an octave.
constexpr int kDroppedBits = 46;
constexpr std::int32_t kBinsPerOctave = 64;
constexpr std::int32_t kSignBit = 1 << (63 - kDroppedBits);

// Bins of complements are counted down from here, above every bin of a value in [0, 1/2]. Rounding
// may leave a complement below 0, whose bin is above this.
constexpr std::int32_t kComplementTop = 2 * kSignBit;
static_assert(QuantileSketch::kLowestBin == -kSignBit &&
              QuantileSketch::kHighestBin == kComplementTop + kSignBit);

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

// Whether a value can have been counted there. A complement is rounded when it becomes a value.
bool can_hold(std::int32_t bin, double value) {
  constexpr double kRounding = 0x1p-50;
  const bool is_complement = bin > kSignBit;
  const double slack = is_complement ? std::abs(1 - value) / 64 + kRounding
                                     : std::abs(value) / 64 + std::numeric_limits<double>::min();
  return std::isfinite(value) && std::abs(value_of(bin) - value) <= slack;
}

// The shifts of negative bins round down, as C++20 has it.
std::int32_t octave_of(std::int32_t bin) {
  return bin >> 6;
}
std::size_t place_of(std::int32_t bin) {
  return static_cast<std::size_t>(bin & 63);
}

}  // namespace

inline QuantileSketch::Page& QuantileSketch::page(std::int32_t octave) {
  const std::int64_t index = std::int64_t{octave} - first_octave_;
  if (index < 0 || index >= std::ssize(page_places_)) return new_page(octave);
  const std::int32_t place = page_places_[static_cast<std::size_t>(index)];
  return place == kNoPage ? new_page(octave) : pages_[static_cast<std::size_t>(place)];
}

QuantileSketch::Page& QuantileSketch::new_page(std::int32_t octave) {
  if (page_places_.empty()) first_octave_ = octave;
  if (octave < first_octave_) {
    page_places_.insert(page_places_.begin(), static_cast<std::size_t>(first_octave_ - octave),
                        kNoPage);
    first_octave_ = octave;
  }
  const auto index = static_cast<std::size_t>(octave - first_octave_);
  if (index >= page_places_.size()) page_places_.resize(index + 1, kNoPage);
  page_places_[index] = static_cast<std::int32_t>(pages_.size());
  return pages_.emplace_back();
}

template <typename BinAt>
void QuantileSketch::add_bins(std::size_t count, const BinAt& bin_at) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t bin = bin_at(i);
    ++page(octave_of(bin))[place_of(bin)];
  }
  count_ += static_cast<std::int64_t>(count);
}

void QuantileSketch::add(std::span<const double> values) {
  add_bins(values.size(), [&](std::size_t i) { return bin_of(values[i]); });
}

void QuantileSketch::add_with_complements(std::span<const double> values,
                                          std::span<const double> complements) {
  add_bins(values.size(), [&](std::size_t i) {
    // Which of the two is smaller is anyone's guess: chosen without a branch.
    const bool is_low = values[i] <= complements[i];
    const std::int32_t bin = bin_of(is_low ? values[i] : complements[i]);
    return is_low ? bin : kComplementTop - bin;
  });
}

void QuantileSketch::merge(const QuantileSketch& other) {
  for (std::size_t i = 0; i < other.page_places_.size(); ++i) {
    const std::int32_t place = other.page_places_[i];
    if (place == kNoPage) continue;
    const Page& theirs = other.pages_[static_cast<std::size_t>(place)];
    Page& ours = page(other.first_octave_ + static_cast<std::int32_t>(i));
    for (std::size_t bin = 0; bin < theirs.size(); ++bin) ours[bin] += theirs[bin];
  }
  count_ += other.count_;
}

std::optional<double> QuantileSketch::quantile(double q) const {
  if (count_ == 0) return std::nullopt;
  const auto rank = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_))));
  std::int64_t seen = 0;
  for (const auto& [bin, times] : bins()) {
    seen += times;
    if (seen >= rank) return value_of(bin);
  }
  return std::nullopt;
}

std::vector<std::pair<std::int32_t, std::int64_t>> QuantileSketch::bins() const {
  std::vector<std::pair<std::int32_t, std::int64_t>> filled;
  for (std::size_t i = 0; i < page_places_.size(); ++i) {
    if (page_places_[i] == kNoPage) continue;
    const Page& counts = pages_[static_cast<std::size_t>(page_places_[i])];
    const std::int32_t first_bin = (first_octave_ + static_cast<std::int32_t>(i)) * kPageSize;
    for (std::int32_t place = 0; place < kPageSize; ++place) {
      const std::int64_t times = counts[static_cast<std::size_t>(place)];
      if (times != 0) filled.emplace_back(first_bin + place, times);
    }
  }
  return filled;
}

bool QuantileSketch::can_reach(double low, double high) const {
  const auto filled = bins();
  if (filled.empty()) return low > high;
  return low <= high && can_hold(filled.front().first, low) && can_hold(filled.back().first, high);
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
    sketch.page(octave_of(bin))[place_of(bin)] += times;
    sketch.count_ += times;
  }
  return sketch;
}

}  // namespace attnscale
