#include "numerics/matrix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace attnscale {
namespace {

// The bits of a half: sign, 5 of an exponent biased by 15, 10 of a fraction.
double half_to_double(std::uint16_t half) {
  const std::uint64_t sign = std::uint64_t{half} >> 15 << 63;
  const std::uint64_t exponent = half >> 10 & 0x1F;
  const std::uint64_t fraction = half & 0x3FF;
  if (exponent == 0) {  // zero or subnormal
    const double magnitude = static_cast<double>(fraction) * 0x1p-24;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint64_t biased = exponent == 0x1F ? 0x7FF : exponent - 15 + 1023;
  return std::bit_cast<double>(sign | biased << 52 | fraction << 42);
}

double to_double(std::uint16_t half) {
  return half_to_double(half);
}
double to_double(float number) {
  return static_cast<double>(number);
}
double to_double(double number) {
  return number;
}

template <typename Stored>
void read(const std::byte* from, std::endian order, std::span<double> out) {
  std::array<std::byte, sizeof(Stored)> bytes;
  for (double& number : out) {
    std::memcpy(bytes.data(), from, bytes.size());
    if (order != std::endian::native) std::reverse(bytes.begin(), bytes.end());
    number = to_double(std::bit_cast<Stored>(bytes));
    from += bytes.size();
  }
}

}  // namespace

std::int64_t bytes_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::kFloat16:
      return 2;
    case NumberFormat::kFloat32:
      return 4;
    case NumberFormat::kFloat64:
      break;
  }
  return 8;
}

void Matrix::read_row(std::int64_t head, std::int64_t row, std::span<double> out) const {
  const std::byte* const from = numbers.get() + (head * rows + row) * columns * bytes_of(format);
  switch (format) {
    case NumberFormat::kFloat16:
      return read<std::uint16_t>(from, order, out);
    case NumberFormat::kFloat32:
      return read<float>(from, order, out);
    case NumberFormat::kFloat64:
      return read<double>(from, order, out);
  }
}

}  // namespace attnscale
