// Matrices of half, single or double precision somewhere in memory, read row by row as doubles, so
// that large ones need not be copied. Knows nothing of files.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace attnscale {

/// How one number is stored: IEEE 754.
enum class NumberFormat { kFloat16, kFloat32, kFloat64 };

/// Bytes of one number.
std::int64_t bytes_of(NumberFormat format);

/// Numbers of shape (heads, rows, columns) in C order.
struct Matrix {
  std::int64_t heads = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  NumberFormat format = NumberFormat::kFloat64;
  /// The first number, at any alignment; also keeps alive what holds the numbers.
  std::shared_ptr<const std::byte> numbers;
  std::endian order = std::endian::native;  ///< of the bytes of each number

  /// One row as doubles, exactly. Preconditions: head and row exist; out.size() = columns.
  void read_row(std::int64_t head, std::int64_t row, std::span<double> out) const;
};

}  // namespace attnscale
