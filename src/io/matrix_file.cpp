#include "io/matrix_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "io/file_descriptor.h"
#include "io/npy_header.h"
#include "io/sha256.h"

namespace attnscale {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw MatrixFileError(name + ": " + what);
}

/// A file's bytes, mapped for reading. The map outlives the descriptor.
struct MappedFile {
  std::shared_ptr<const std::byte> bytes;
  std::size_t size = 0;

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.get()), size}; }
};

MappedFile map_file(const std::filesystem::path& path) {
  // Without O_NONBLOCK a pipe nobody writes to would be waited for before it can be refused.
  const FileDescriptor file(path, O_RDONLY | O_NONBLOCK);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_file_error("read", path, errno);
  if (!S_ISREG(status.st_mode)) fail(path.string(), "is no file; expected a .npy or .csv file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    fail(path.string(),
         "byte 0: the file is empty; expected a matrix, as numpy.save writes it, or lines of "
         "numbers in a file that ends in .csv");
  }
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) throw_file_error("map", path, errno);
  const auto unmap = [size](const std::byte* begin) {
    ::munmap(const_cast<std::byte*>(begin), size);
  };
  return {std::shared_ptr<const std::byte>(static_cast<const std::byte*>(memory), unmap), size};
}

std::string number_name(double number) {
  if (std::isnan(number)) return "nan";
  return number < 0 ? "-inf" : "inf";
}

void expect_finite(const Matrix& matrix, std::int64_t first_byte, const std::string& name) {
  std::vector<double> row(static_cast<std::size_t>(matrix.columns));
  const auto is_finite = [](double number) { return std::isfinite(number); };
  for (std::int64_t head = 0; head < matrix.heads; ++head) {
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
      matrix.read_row(head, i, row);
      const auto wrong = std::find_if_not(row.begin(), row.end(), is_finite);
      if (wrong == row.end()) continue;
      const std::int64_t column = wrong - row.begin();
      const std::int64_t number = (head * matrix.rows + i) * matrix.columns + column;
      const std::int64_t byte = first_byte + number * bytes_of(matrix.format);
      fail(name, "byte " + std::to_string(byte) + " (head " + std::to_string(head) + ", row " +
                     std::to_string(i) + ", column " + std::to_string(column) +
                     ", counted from 0): found " + number_name(*wrong) +
                     "; expected finite numbers: leave such rows out, or hide later keys with "
                     "\"causal\": true");
    }
  }
}

Matrix npy_matrix(const MappedFile& file, const std::string& name) {
  const NpyHeader header = read_npy_header(file.text(), name);
  const std::int64_t numbers = header.heads * header.rows * header.columns;
  const std::int64_t expected = header.bytes + numbers * bytes_of(header.format);
  const auto size = static_cast<std::int64_t>(file.size);
  if (size != expected) {
    const std::string at = "byte " + std::to_string(std::min(size, expected)) + ": ";
    const std::string shape = "its header says " + std::to_string(header.heads) + " x " +
                              std::to_string(header.rows) + " x " + std::to_string(header.columns) +
                              " numbers, which end at byte " + std::to_string(expected);
    fail(name, at + (size < expected
                         ? "the file ends here, but " + shape + ": it was cut off; save it again"
                         : std::to_string(size - expected) + " bytes too many: " + shape +
                               "; save one array a file"));
  }
  Matrix matrix{header.heads, header.rows, header.columns, header.format, {}};
  matrix.numbers = std::shared_ptr<const std::byte>(file.bytes, file.bytes.get() + header.bytes);
  expect_finite(matrix, header.bytes, name);
  return matrix;
}

/// The lines of a CSV file of numbers, one row each.
class CsvNumbers {
 public:
  CsvNumbers(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  Matrix read() {
    std::vector<double> numbers;
    std::int64_t rows = 0;
    std::size_t columns = 0;
    while (!rest_.empty()) {
      const std::string_view line = take_line();
      if (line_ == 1 && is_header(line)) continue;
      const std::size_t before = numbers.size();
      add_cells(line, numbers);
      if (rows++ == 0) columns = numbers.size();
      if (numbers.size() - before != columns) {
        fail_here("found a row of " + std::to_string(numbers.size() - before) +
                  " numbers; expected " + std::to_string(columns) + ", as in the first row");
      }
    }
    if (rows == 0) fail_here("found no numbers; expected one row of them a line");
    return matrix_of(std::move(numbers), rows, static_cast<std::int64_t>(columns));
  }

 private:
  static bool is_number(std::string_view cell) {
    double number = 0;
    return parse(cell, number);
  }

  static bool parse(std::string_view cell, double& number) {
    if (cell.starts_with('+')) cell.remove_prefix(1);
    const std::from_chars_result result =
        std::from_chars(cell.data(), cell.data() + cell.size(), number);
    return result.ec == std::errc() && result.ptr == cell.data() + cell.size();
  }

  static std::string_view trimmed(std::string_view cell) {
    while (cell.starts_with(' ')) cell.remove_prefix(1);
    while (cell.ends_with(' ')) cell.remove_suffix(1);
    return cell;
  }

  static std::string_view take_cell(std::string_view& line) {
    const std::size_t comma = std::min(line.find(','), line.size());
    const std::string_view cell = trimmed(line.substr(0, comma));
    line.remove_prefix(std::min(comma + 1, line.size()));
    return cell;
  }

  // Names of columns: no cell is a number, and none is empty.
  static bool is_header(std::string_view line) {
    bool is_last = false;
    while (!is_last) {
      is_last = line.find(',') == std::string_view::npos;
      const std::string_view cell = take_cell(line);
      if (cell.empty() || is_number(cell)) return false;
    }
    return true;
  }

  std::string_view take_line() {
    ++line_;
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) {
      fail_here("the last line has no end: the file was cut off; end it with a new line");
    }
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  void add_cells(std::string_view line, std::vector<double>& numbers) {
    constexpr std::size_t kShown = 40;
    for (std::size_t column = 1;; ++column) {
      const bool is_last = line.find(',') == std::string_view::npos;
      const std::string_view cell = take_cell(line);
      double number = 0;
      if (!parse(cell, number) || !std::isfinite(number)) {
        fail_here("cell " + std::to_string(column) + ": found " +
                  (cell.empty() ? "nothing" : std::string(cell.substr(0, kShown))) +
                  "; expected a finite number such as 0.25 or -1e-3, with commas between numbers");
      }
      numbers.push_back(number);
      if (is_last) return;
    }
  }

  static Matrix matrix_of(std::vector<double> numbers, std::int64_t rows, std::int64_t columns) {
    const auto held = std::make_shared<const std::vector<double>>(std::move(numbers));
    Matrix matrix{1, rows, columns, NumberFormat::kFloat64, {}};
    matrix.numbers =
        std::shared_ptr<const std::byte>(held, reinterpret_cast<const std::byte*>(held->data()));
    return matrix;
  }

  [[noreturn]] void fail_here(const std::string& what) const {
    throw MatrixFileError(name_ + ":" + std::to_string(line_) + ": " + what);
  }

  std::string_view rest_;
  const std::string& name_;
  std::size_t line_ = 0;
};

}  // namespace

MatrixFile open_matrix_file(const std::filesystem::path& path) {
  const std::string name = path.string();
  const MappedFile file = map_file(path);
  MatrixFile opened;
  opened.matrix =
      path.extension() == ".csv" ? CsvNumbers(file.text(), name).read() : npy_matrix(file, name);
  opened.sha256 = sha256_hex(file.text());
  return opened;
}

}  // namespace attnscale
