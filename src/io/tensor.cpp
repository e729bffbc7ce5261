#include "io/tensor.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/printable.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

// What NumPy makes numbers of an array of such a type with.
std::string_view as_numbers(const std::string& type) {
  const char kind = type.size() > 1 ? type[1] : ' ';
  if (kind == 'V') return "the array with the type that it had, or array.view(TYPE)";
  if (kind == 'c') return "array.real or abs(array)";
  return "array.astype(\"<f4\")";
}

// What a mask of these bits most likely is: numbers 0 and 1, where a byte need not be a float8.
bool is_mask_of_integers(const Tensor& tensor, const TensorReading& reading) {
  const bool is_integer = tensor.type.find('V') == std::string::npos;
  const bool is_said = reading.dtype && tensor.item_bytes > 1;
  return reading.takes_truth && tensor.holds_bits && is_integer && !is_said;
}

NumberFormat format_of(const Tensor& tensor, const TensorReading& reading) {
  const std::optional<NumberFormat>& dtype = reading.dtype;
  if (is_mask_of_integers(tensor, reading)) {
    refuse_file(tensor.name, fmt::format("found a mask of the integers {}; save array.astype(bool)",
                                         in_quotes(tensor.type)));
  }
  if (dtype && tensor.holds_bits) {
    const NumberFormatRow& said = row_of(*dtype);
    if (said.bytes == tensor.item_bytes) return *dtype;
    refuse_file(
        tensor.name,
        fmt::format("found numbers of {} bytes; {} says {}, which has {}", tensor.item_bytes,
                    reading.from_command ? "--dtype" : "\"dtype\"", said.name, said.bytes));
  }
  if (tensor.holds_bits) {
    const std::string_view likely = tensor.item_bytes == 1 ? "float8_e4m3fn" : "bfloat16";
    refuse_file(
        tensor.name,
        fmt::format("found {}, which says how many bits a number has but not what they mean; say "
                    "it with {}",
                    in_quotes(tensor.type),
                    reading.from_command ? fmt::format("--dtype {}", likely)
                                         : fmt::format("\"dtype\": \"{}\"", likely)));
  }
  const bool is_truth = tensor.format == NumberFormat::kBool;
  if (!tensor.format || (is_truth && !reading.takes_truth)) {
    refuse_file(
        tensor.name,
        fmt::format(
            "found numbers of the type {}; expected float64, float32, float16 (of either byte "
            "order), bfloat16, float8_e4m3fn or float8_e5m2{}: save {}",
            in_quotes(tensor.type), reading.takes_truth ? ", or bool" : "",
            reading.takes_truth ? "array.astype(bool)" : as_numbers(tensor.type)));
  }
  return *tensor.format;
}

// The four axes' sizes and strides, in the tensor's own order.
struct Axes {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
};

Axes axes_of(const Tensor& tensor) {
  constexpr std::size_t kMost = 4;
  Axes axes{tensor.shape, std::vector<std::int64_t>(tensor.shape.size())};
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < axes.sizes.size(); ++i) {
    const std::size_t axis = tensor.fortran_order ? i : axes.sizes.size() - 1 - i;
    axes.strides[axis] = stride;
    stride *= axes.sizes[axis];
  }
  while (axes.sizes.size() > kMost && axes.sizes.front() == 1) {
    axes.sizes.erase(axes.sizes.begin());
    axes.strides.erase(axes.strides.begin());
  }
  if (axes.sizes.size() < 2 || axes.sizes.size() > kMost) {
    refuse_file(
        tensor.name,
        fmt::format("found the shape {}; expected (rows, d), (heads, rows, d) or (batch, heads, "
                    "rows, d): reshape the array",
                    shape_text(tensor.shape)));
  }
  return axes;
}

Matrix matrix_in(const Tensor& tensor, NumberFormat format, MatrixLayout layout) {
  Axes axes = axes_of(tensor);
  auto& [sizes, strides] = axes;
  // A matrix has one head, whatever the layout.
  const bool has_heads = sizes.size() > 2;
  if (has_heads && layout == MatrixLayout::kRowsFirst) {
    const std::size_t head = sizes.size() - 2;
    std::swap(sizes[head], sizes[head - 1]);
    std::swap(strides[head], strides[head - 1]);
  }
  sizes.insert(sizes.begin(), 4 - sizes.size(), 1);
  strides.insert(strides.begin(), 4 - strides.size(), 0);
  return {sizes[0] * sizes[1],
          sizes[2],
          sizes[3],
          format,
          tensor.numbers,
          sizes[1],
          {strides[0], strides[1], strides[2], strides[3]}};
}

}  // namespace

std::string shape_text(const std::vector<std::int64_t>& shape) {
  constexpr std::size_t kMost = 8;
  std::string text = "(";
  for (std::size_t i = 0; i < std::min(shape.size(), kMost); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  }
  if (shape.size() > kMost) text += ", ...";
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::int64_t numbers_in(const std::vector<std::int64_t>& shape, const std::string& name) {
  constexpr std::int64_t kMost = std::int64_t{1}
                                 << 44;  // their bytes are what a process can address
  std::int64_t numbers = 1;
  for (const std::int64_t size : shape) {
    if (size == 0) {
      refuse_file(name,
                  fmt::format("found the shape {}, which holds nothing; expected at least one row "
                              "of one number",
                              shape_text(shape)));
    }
    if (size > kMost / numbers) {
      refuse_file(name, fmt::format("found the shape {}, beyond any memory", shape_text(shape)));
    }
    numbers *= size;
  }
  return numbers;
}

Matrix laid_out(const Tensor& tensor, const TensorReading& reading) {
  const NumberFormat format = format_of(tensor, reading);
  numbers_in(tensor.shape, tensor.name);
  Matrix matrix = matrix_in(tensor, format, reading.layout);
  matrix.order = tensor.order;
  return matrix;
}

void expect_finite(const Matrix& matrix, const Tensor& tensor, const TensorReading& reading) {
  std::vector<double> row(static_cast<std::size_t>(matrix.columns));
  const auto is_allowed = [&reading](double number) {
    return std::isfinite(number) || (reading.hides_keys && number < 0);
  };
  for (std::int64_t head = 0; head < matrix.heads; ++head) {
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
      matrix.read_row(head, i, row);
      const auto wrong = std::find_if_not(row.begin(), row.end(), is_allowed);
      if (wrong == row.end()) continue;
      const std::int64_t column = wrong - row.begin();
      const std::int64_t number = head / matrix.heads_per_batch * matrix.strides.batch +
                                  head % matrix.heads_per_batch * matrix.strides.head +
                                  i * matrix.strides.row + column * matrix.strides.column;
      const std::string place =
          fmt::format("head {}, row {}, column {}, counted from 0", head, i, column);
      refuse_file(
          tensor.name,
          fmt::format("{}: found {}; expected finite numbers{}",
                      tensor.first_byte
                          ? fmt::format("byte {} ({})",
                                        *tensor.first_byte + number * tensor.item_bytes, place)
                          : place,
                      std::isnan(*wrong) ? "nan" : shortest(*wrong),
                      reading.hides_keys ? ", or -inf where a key is hidden" : ""));
    }
  }
}

Matrix matrix_of(const Tensor& tensor, const TensorReading& reading) {
  Matrix matrix = laid_out(tensor, reading);
  expect_finite(matrix, tensor, reading);
  return matrix;
}

MatrixFileError::MatrixFileError(const std::string& what) : std::runtime_error(in_one_line(what)) {}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string shown = "\"";
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_printable = byte >= 0x20 && byte < 0x7F;
    shown += is_printable ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return shown.append(text.size() > kMost ? "...\"" : "\"");
}

}  // namespace attnscale
