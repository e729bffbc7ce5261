#include "numerics/matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace attnscale {
namespace {

/// A matrix that holds `numbers`, one byte off any alignment.
template <typename Stored>
Matrix matrix_of(const std::vector<Stored>& numbers, NumberFormat format, std::int64_t heads,
                 std::int64_t rows) {
  const std::size_t size = numbers.size() * sizeof(Stored);
  const auto bytes = std::make_shared<std::vector<std::byte>>(size + 1);
  std::memcpy(bytes->data() + 1, numbers.data(), size);
  return matrix_in_rows(heads, rows, std::ssize(numbers) / heads / rows, format,
                        std::shared_ptr<const std::byte>(bytes, bytes->data() + 1));
}

// IEEE 754-2008, 3.4: binary16.
double half_value(unsigned bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> 10 & 0x1F);
  const int fraction = static_cast<int>(bits & 0x3FF);
  if (exponent == 31 && fraction != 0) return std::numeric_limits<double>::quiet_NaN();
  if (exponent == 31) return sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Matrix, ReadsEveryHalf) {
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  const Matrix matrix = matrix_of(halves, NumberFormat::kFloat16, 1, 1);
  std::vector<double> row(65536);
  matrix.read_row(0, 0, row);
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const double expected = half_value(bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(row[bits])) << bits;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(row[bits]), std::bit_cast<std::uint64_t>(expected))
          << bits;
    }
  }
}

TEST(Matrix, ReadsTruthAsOneAndZero) {
  std::vector<double> row(3);
  matrix_of<std::uint8_t>({0, 1, 255}, NumberFormat::kBool, 1, 1).read_row(0, 0, row);
  EXPECT_EQ(row, (std::vector<double>{0, 1, 1}));
}

// The OCP's 8-bit formats: a value of 7 is all ones in E4M3's exponent and fraction alone.
TEST(Matrix, ReadsEveryNumberOfOneByte) {
  std::vector<std::uint8_t> bytes(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  std::vector<double> row(256);
  matrix_of(bytes, NumberFormat::kFloat8E4m3, 1, 1).read_row(0, 0, row);
  for (unsigned bits = 0; bits < 256; ++bits) {
    const double sign = bits >= 128 ? -1 : 1;
    const int exponent = static_cast<int>(bits >> 3 & 15);
    const int fraction = static_cast<int>(bits & 7);
    if (exponent == 15 && fraction == 7) {
      EXPECT_TRUE(std::isnan(row[bits])) << bits;
    } else {
      EXPECT_EQ(row[bits], sign * (exponent == 0 ? std::ldexp(fraction, -9)
                                                 : std::ldexp(8 + fraction, exponent - 10)))
          << bits;
    }
  }
  matrix_of(bytes, NumberFormat::kFloat8E5m2, 1, 1).read_row(0, 0, row);
  for (unsigned bits = 0; bits < 256; ++bits) {
    const double expected = half_value(bits << 8);
    EXPECT_TRUE(row[bits] == expected || (std::isnan(row[bits]) && std::isnan(expected))) << bits;
  }
}

TEST(Matrix, ReadsTheUpperHalfOfAFloat) {
  const std::vector<std::uint16_t> halves = {0x3F80, 0xC020, 0x0001, 0xFF80};
  std::vector<double> row(4);
  matrix_of(halves, NumberFormat::kBfloat16, 1, 1).read_row(0, 0, row);
  EXPECT_EQ(row, (std::vector<double>{1, -2.5, 0x1p-133, -HUGE_VAL}));
}

TEST(Matrix, ReadsTheRowOfItsHead) {
  const std::vector<float> floats = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0.1F};
  const std::vector<double> doubles(floats.begin(), floats.end());
  for (const Matrix& matrix : {matrix_of(floats, NumberFormat::kFloat32, 2, 3),
                               matrix_of(doubles, NumberFormat::kFloat64, 2, 3)}) {
    ASSERT_EQ(matrix.columns, 2);
    std::vector<double> row(2);
    matrix.read_row(1, 2, row);
    EXPECT_EQ(row, (std::vector<double>{10, static_cast<double>(0.1F)}));
    matrix.read_row(0, 1, row);
    EXPECT_EQ(row, (std::vector<double>{2, 3}));
  }
}

// The bits of IEEE 754, largest byte first: -0.15625 is -1.25 * 2^-3.
TEST(Matrix, ReadsTheByteOrderThatItIsGiven) {
  const std::vector<std::uint8_t> half{0xB1, 0x00, 0x3C, 0x01};
  const std::vector<std::uint8_t> single{0xBE, 0x20, 0x00, 0x00, 0x3F, 0x80, 0x00, 0x01};
  const std::vector<std::uint8_t> twice{0xBF, 0xC4, 0, 0, 0, 0, 0, 0, 0x3F, 0xF0, 0, 0, 0, 0, 0, 1};
  const auto read = [](std::vector<std::uint8_t> bytes, NumberFormat format, std::endian order) {
    if (order == std::endian::little) {
      for (auto begin = bytes.begin(); begin != bytes.end(); begin += row_of(format).bytes) {
        std::reverse(begin, begin + row_of(format).bytes);
      }
    }
    Matrix matrix = matrix_of(bytes, format, 1, 1);
    matrix.columns = 2;
    matrix.order = order;
    std::vector<double> row(2);
    matrix.read_row(0, 0, row);
    return row;
  };
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    EXPECT_EQ(read(half, NumberFormat::kFloat16, order), (std::vector{-0.15625, 1 + 0x1p-10}));
    EXPECT_EQ(read(single, NumberFormat::kFloat32, order), (std::vector{-0.15625, 1 + 0x1p-23}));
    EXPECT_EQ(read(twice, NumberFormat::kFloat64, order), (std::vector{-0.15625, 1 + 0x1p-52}));
  }
}

TEST(Matrix, KeepsItsMemoryAlive) {
  const std::weak_ptr<const std::byte> numbers =
      matrix_of(std::vector<double>{1}, NumberFormat::kFloat64, 1, 1).numbers;
  EXPECT_TRUE(numbers.expired());  // and no longer than that
  const Matrix matrix = matrix_of(std::vector<double>{7}, NumberFormat::kFloat64, 1, 1);
  const Matrix copy = matrix;
  EXPECT_EQ(copy.numbers.use_count(), 2);
}

}  // namespace
}  // namespace attnscale
