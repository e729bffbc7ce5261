// A tensor as a file describes it, whatever the file's format, and the way from there to a matrix
// of heads. Knows nothing of queries and keys.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "numerics/matrix.h"

namespace attnscale {

/// Numbers of any shape in memory that the tensor keeps alive.
struct Tensor {
  std::string name;                    ///< the file, and the tensor's name in it
  std::string type;                    ///< as the file calls it
  std::optional<NumberFormat> format;  ///< empty: bits alone, or a type that is no matrix
  std::int64_t item_bytes = 0;         ///< of one number
  bool holds_bits = false;             ///< the type says nothing but how many bits a number has
  std::vector<std::int64_t> shape;
  std::endian order = std::endian::little;  ///< of the bytes of each number
  bool fortran_order = false;               ///< the first index runs fastest
  std::optional<std::int64_t> first_byte;   ///< of the numbers in the file, if they are binary
  std::shared_ptr<const std::byte> numbers;
};

/// What its user knows about a tensor.
struct TensorReading {
  MatrixLayout layout = MatrixLayout::kHeadsFirst;
  std::optional<NumberFormat> dtype;  ///< of numbers of which the file has the bits alone
  bool hides_keys = false;            ///< -inf is a number here: that of a hidden key
  bool takes_truth = false;           ///< and so are true and false
  bool from_command = false;          ///< dtype is an option, no key of a config
  friend bool operator==(const TensorReading&, const TensorReading&) = default;
};

/// "(2, 8, 64)".
std::string shape_text(const std::vector<std::int64_t>& shape);

/// The numbers of a tensor of that shape. Throws MatrixFileError, with `name`, where there is none,
/// and where they are beyond any memory.
std::int64_t numbers_in(const std::vector<std::int64_t>& shape, const std::string& name);

/// The tensor as a matrix: (rows, d), (heads, rows, d) or (batch, heads, rows, d), after leading
/// ones. Throws MatrixFileError if it is none. Does not look at its numbers, which may be many.
Matrix laid_out(const Tensor& tensor, const TensorReading& reading);

/// Throws MatrixFileError if a number of this matrix of the tensor is not finite.
void expect_finite(const Matrix& matrix, const Tensor& tensor, const TensorReading& reading);

/// The matrix, all of whose numbers are finite.
Matrix matrix_of(const Tensor& tensor, const TensorReading& reading);

/// Bytes of a file in quotes: what cannot be printed as \x0a, long ones cut.
std::string in_quotes(std::string_view text);

/// What is wrong with a file, in one sentence: its name, where (byte, line, or head, row and
/// column), what was found, what to write instead. In one line of what can be printed: a NUL of the
/// file would end the text in its middle.
class MatrixFileError : public std::runtime_error {
 public:
  explicit MatrixFileError(const std::string& what);
};

/// Throws "NAME: WHAT".
[[noreturn]] inline void refuse_file(const std::string& name, const std::string& what) {
  throw MatrixFileError(name + ": " + what);
}

}  // namespace attnscale
