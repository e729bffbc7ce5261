// Matrices of any usual precision somewhere in memory, read row by row as doubles, so that large
// ones need not be copied. Knows nothing of files.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace attnscale {

/// How one number is stored: IEEE 754's formats, the upper half of a binary32, the two formats of
/// one byte that tensors are kept in (E4M3 without infinities), and a byte that is true or false.
enum class NumberFormat {
  kFloat64,
  kFloat32,
  kFloat16,
  kBfloat16,
  kFloat8E4m3,
  kFloat8E5m2,
  kBool
};

/// Which axis of (batch, heads, rows, d) comes before which.
enum class MatrixLayout { kHeadsFirst, kRowsFirst };
inline constexpr std::array<std::string_view, 2> kLayoutNames{"heads_first", "rows_first"};

/// What there is to know of a format.
struct NumberFormatRow {
  NumberFormat format;
  std::string_view name;  ///< as PyTorch and ml_dtypes call it
  std::int64_t bytes;
  int digits;           ///< of the significand, the leading one included
  double least_normal;  ///< below it numbers have fewer digits
};

/// In the order of the enum.
std::span<const NumberFormatRow> number_formats();

inline const NumberFormatRow& row_of(NumberFormat format) {
  return number_formats()[static_cast<std::size_t>(format)];
}

/// The format of that name, or nothing.
std::optional<NumberFormat> find_number_format(std::string_view name);

/// From one number to the next along an axis, in numbers.
struct MatrixStrides {
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t row = 0;
  std::int64_t column = 1;
};

/// Numbers of shape (batches, heads, rows, columns). Heads are counted through all batches.
struct Matrix {
  std::int64_t heads = 0;  ///< of all batches
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  NumberFormat format = NumberFormat::kFloat64;
  /// The first number, at any alignment; also keeps alive what holds the numbers.
  std::shared_ptr<const std::byte> numbers = {};
  std::int64_t heads_per_batch = 1;
  MatrixStrides strides = {};
  std::endian order = std::endian::little;  ///< of the bytes of each number

  std::int64_t batches() const { return heads / heads_per_batch; }

  /// One row as doubles, exactly. Preconditions: head and row exist; out.size() = columns.
  void read_row(std::int64_t head, std::int64_t row, std::span<double> out) const;
};

/// One batch of heads, row after row.
Matrix matrix_in_rows(std::int64_t heads, std::int64_t rows, std::int64_t columns,
                      NumberFormat format, std::shared_ptr<const std::byte> numbers);

}  // namespace attnscale
