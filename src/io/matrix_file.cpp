#include "io/matrix_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cmath>
#include <memory>
#include <string_view>
#include <vector>

#include "io/csv_matrix.h"
#include "io/file_descriptor.h"
#include "io/matrix_file_error.h"
#include "io/npy_header.h"
#include "io/sha256.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw MatrixFileError(name + ": " + what);
}

// A file's bytes, mapped for reading. The map outlives the descriptor.
struct MappedFile {
  std::shared_ptr<const std::byte> bytes;
  std::size_t size = 0;

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.get()), size}; }
};

MappedFile map_file(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
  const FileDescriptor file(path, O_RDONLY | O_NONBLOCK);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_file_error("read", path, errno);
  if (!S_ISREG(status.st_mode)) fail(path.string(), "is not a file; expected a .npy or .csv file");
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
      fail(name,
           fmt::format("byte {} (head {}, row {}, column {}, counted from 0): found {}; "
                       "expected finite numbers: leave such rows out, or hide later keys with "
                       "\"causal\": true",
                       byte, head, i, column, std::isnan(*wrong) ? "nan" : shortest(*wrong)));
    }
  }
}

Matrix npy_matrix(const MappedFile& file, const std::string& name) {
  const NpyHeader header = read_npy_header(file.text(), name);
  const std::int64_t numbers = header.heads * header.rows * header.columns;
  const std::int64_t expected = header.bytes + numbers * bytes_of(header.format);
  const auto size = static_cast<std::int64_t>(file.size);
  if (size != expected) {
    const std::string shape =
        fmt::format("its header gives {} x {} x {} numbers, which end at byte {}", header.heads,
                    header.rows, header.columns, expected);
    fail(name,
         size < expected
             ? fmt::format("byte {}: the file ends here, but {}: it was cut off; save it again",
                           size, shape)
             : fmt::format("byte {}: {} bytes too many: {}; save one array per file", expected,
                           size - expected, shape));
  }
  Matrix matrix{header.heads, header.rows, header.columns, header.format, {}};
  matrix.numbers = std::shared_ptr<const std::byte>(file.bytes, file.bytes.get() + header.bytes);
  matrix.order = header.order;
  expect_finite(matrix, header.bytes, name);
  return matrix;
}

}  // namespace

MatrixFile open_matrix_file(const std::filesystem::path& path) {
  const std::string name = path.string();
  const MappedFile file = map_file(path);
  MatrixFile opened;
  opened.matrix =
      path.extension() == ".csv" ? read_csv_matrix(file.text(), name) : npy_matrix(file, name);
  opened.sha256 = sha256_hex(file.text());
  return opened;
}

}  // namespace attnscale
