#include "numerics/matrix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace attnscale {
namespace {

// One line for each format.
// clang-format off
constexpr std::array kFormats{
    NumberFormatRow{NumberFormat::kFloat64, "float64", 8, 53, 0x1p-1022},
    NumberFormatRow{NumberFormat::kFloat32, "float32", 4, 24, 0x1p-126},
    NumberFormatRow{NumberFormat::kFloat16, "float16", 2, 11, 0x1p-14},
    NumberFormatRow{NumberFormat::kBfloat16, "bfloat16", 2, 8, 0x1p-126},
    NumberFormatRow{NumberFormat::kFloat8E4m3, "float8_e4m3fn", 1, 4, 0x1p-6},
    NumberFormatRow{NumberFormat::kFloat8E5m2, "float8_e5m2", 1, 3, 0x1p-14},
    NumberFormatRow{NumberFormat::kBool, "bool", 1, 1, 1},
};
// clang-format on

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

// The bits of E4M3: sign, 4 of an exponent biased by 7, 3 of a fraction; all ones are no number.
double e4m3_to_double(std::uint8_t bits) {
  const std::uint64_t sign = std::uint64_t{bits} >> 7 << 63;
  const std::uint64_t exponent = bits >> 3 & 0xF;
  const std::uint64_t fraction = bits & 0x7;
  if (exponent == 0xF && fraction == 0x7) return std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) {
    const double magnitude = static_cast<double>(fraction) * 0x1p-9;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<double>(sign | (exponent - 7 + 1023) << 52 | fraction << 49);
}

template <NumberFormat format>
double number_at(const std::byte* from, std::endian order) {
  const auto stored = [from, order]<typename Stored>(Stored) {
    std::array<std::byte, sizeof(Stored)> bytes;
    std::memcpy(bytes.data(), from, bytes.size());
    if (order != std::endian::native) std::reverse(bytes.begin(), bytes.end());
    return std::bit_cast<Stored>(bytes);
  };
  if constexpr (format == NumberFormat::kFloat64) return stored(double{});
  if constexpr (format == NumberFormat::kFloat32) return static_cast<double>(stored(float{}));
  if constexpr (format == NumberFormat::kFloat16) return half_to_double(stored(std::uint16_t{}));
  if constexpr (format == NumberFormat::kBfloat16) {
    const auto bits = static_cast<std::uint32_t>(stored(std::uint16_t{})) << 16;
    return static_cast<double>(std::bit_cast<float>(bits));
  }
  if constexpr (format == NumberFormat::kFloat8E4m3) return e4m3_to_double(stored(std::uint8_t{}));
  if constexpr (format == NumberFormat::kFloat8E5m2) {
    return half_to_double(static_cast<std::uint16_t>(stored(std::uint8_t{}) << 8));
  }
  if constexpr (format == NumberFormat::kBool) return stored(std::uint8_t{}) != 0 ? 1 : 0;
}

template <NumberFormat format>
void read(const std::byte* from, std::int64_t step, std::endian order, std::span<double> out) {
  constexpr std::int64_t kBytes = kFormats[static_cast<std::size_t>(format)].bytes;
  if (step == kBytes && order == std::endian::native) {  // as usual, and faster in vectors
    for (double& number : out) {
      number = number_at<format>(from, std::endian::native);
      from += kBytes;
    }
    return;
  }
  for (double& number : out) {
    number = number_at<format>(from, order);
    from += step;
  }
}

}  // namespace

std::span<const NumberFormatRow> number_formats() {
  return kFormats;
}

std::optional<NumberFormat> find_number_format(std::string_view name) {
  const auto* const row = std::ranges::find(kFormats, name, &NumberFormatRow::name);
  return row == kFormats.end() ? std::nullopt : std::optional(row->format);
}

void Matrix::read_row(std::int64_t head, std::int64_t row, std::span<double> out) const {
  const std::int64_t bytes = row_of(format).bytes;
  const std::int64_t place = head / heads_per_batch * strides.batch +
                             head % heads_per_batch * strides.head + row * strides.row;
  const std::byte* const from = numbers.get() + place * bytes;
  const std::int64_t step = strides.column * bytes;
  switch (format) {
    case NumberFormat::kFloat64:
      return read<NumberFormat::kFloat64>(from, step, order, out);
    case NumberFormat::kFloat32:
      return read<NumberFormat::kFloat32>(from, step, order, out);
    case NumberFormat::kFloat16:
      return read<NumberFormat::kFloat16>(from, step, order, out);
    case NumberFormat::kBfloat16:
      return read<NumberFormat::kBfloat16>(from, step, order, out);
    case NumberFormat::kFloat8E4m3:
      return read<NumberFormat::kFloat8E4m3>(from, step, order, out);
    case NumberFormat::kFloat8E5m2:
      return read<NumberFormat::kFloat8E5m2>(from, step, order, out);
    case NumberFormat::kBool:
      return read<NumberFormat::kBool>(from, step, order, out);
  }
}

Matrix matrix_in_rows(std::int64_t heads, std::int64_t rows, std::int64_t columns,
                      NumberFormat format, std::shared_ptr<const std::byte> numbers) {
  return {heads,
          rows,
          columns,
          format,
          std::move(numbers),
          heads,
          {0, rows * columns, columns, 1},
          std::endian::little};
}

}  // namespace attnscale
