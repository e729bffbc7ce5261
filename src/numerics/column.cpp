#include "numerics/column.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "numerics/vector_clones.h"

namespace attnscale {

ATTNSCALE_VECTOR_CLONES
bool all_finite(std::span<const double> numbers) {
  constexpr std::uint64_t kOne = std::uint64_t{1} << 52;  // in the exponent
  constexpr std::uint64_t kExponent = 0x7ff * kOne;
  std::uint64_t carries = 0;  // one more than a full exponent reaches the sign
  for (const double number : numbers) {
    carries |= (std::bit_cast<std::uint64_t>(number) & kExponent) + kOne;
  }
  return carries >> 63 == 0;
}

ATTNSCALE_VECTOR_CLONES
Extremes extremes_of(std::span<const double> numbers) {
  constexpr std::size_t kParts = 8;  // interleaved, for the compiler to keep in vectors
  std::array<double, kParts> least;
  std::array<double, kParts> largest;
  least.fill(Extremes{}.least);
  largest.fill(Extremes{}.largest);
  const auto take = [&](std::size_t part, double number) {
    least[part] = number < least[part] ? number : least[part];
    largest[part] = number > largest[part] ? number : largest[part];
  };
  std::size_t i = 0;
  for (; i + kParts <= numbers.size(); i += kParts) {
    for (std::size_t part = 0; part < kParts; ++part) take(part, numbers[i + part]);
  }
  for (; i < numbers.size(); ++i) take(0, numbers[i]);
  return {std::ranges::min(least), std::ranges::max(largest)};
}

}  // namespace attnscale
