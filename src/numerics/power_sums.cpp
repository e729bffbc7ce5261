#include "numerics/power_sums.h"

namespace attnscale {

void PowerSums::start(std::int64_t queries, int powers) {
  stride_ = padded(queries);
  keys_ = 0;
  powers_ = powers;
  sums_.assign(static_cast<std::size_t>(stride_ * powers), 0.0);
}

void PowerSums::add_keys(std::span<const double> logits, std::int64_t keys, PowerScale scale) {
  keys_ += keys;
  if (powers_ == 0) return;
  const auto stride = static_cast<std::size_t>(stride_);
  double* sums = sums_.data();
  const double centre = scale.centre;
  const double per_unit = 1 / scale.unit;
  for (std::size_t start = 0; start < logits.size(); start += stride) {
    const double* row = logits.data() + start;
    // Lane by lane, so that the compiler's vectors change no order of addition.
    for (std::size_t q = 0; q < stride; ++q) {
      const double x = (row[q] - centre) * per_unit;
      sums[q] += x;
      sums[stride + q] += x * x;
    }
    if (powers_ == 2) continue;
    for (std::size_t q = 0; q < stride; ++q) {
      const double x = (row[q] - centre) * per_unit;
      const double x2 = x * x;
      sums[2 * stride + q] += x2 * x;
      sums[3 * stride + q] += x2 * x2;
    }
  }
}

}  // namespace attnscale
