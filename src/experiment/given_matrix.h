// Numbers that an experiment is given instead of drawing them: rows written in the config, or a
// matrix of a file. Knows no file formats.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "numerics/matrix.h"

namespace attnscale {

/// A matrix and the file it is in. Two are equal if they are the same tensor of files with the same
/// contents, wherever these are.
struct GivenFile {
  std::string path;    ///< absolute, with the tensor's name behind it if the file holds several
  std::string sha256;  ///< of the whole file, in hexadecimal
  Matrix matrix;
  std::string tensor = {};  ///< its name
  bool holds_bits = false;  ///< what its numbers are is not in the file

  /// Fills in the hash and throws UserError if a number is wrong: left to do, as it reads the whole
  /// file, until the sizes of all files are known to fit.
  std::function<void(GivenFile& file)> read_all = nullptr;

  friend bool operator==(const GivenFile& a, const GivenFile& b) {
    return a.sha256 == b.sha256 && a.tensor == b.tensor;
  }
};

/// Rows of numbers: of one head if they are written in the config, perhaps of several in a file.
struct GivenMatrix {
  std::vector<std::vector<double>> rows;  ///< empty if there is a file, or nothing is given
  std::optional<GivenFile> file;

  bool empty() const { return rows.empty() && !file; }
  std::int64_t heads() const { return file ? file->matrix.heads : 1; }
  std::int64_t heads_per_batch() const { return file ? file->matrix.heads_per_batch : 1; }
  std::int64_t batches() const { return file ? file->matrix.batches() : 1; }
  std::int64_t row_count() const { return file ? file->matrix.rows : std::ssize(rows); }

  /// How many numbers a row holds, the same in every head.
  std::int64_t columns(std::int64_t row) const {
    return file ? file->matrix.columns : std::ssize(rows[static_cast<std::size_t>(row)]);
  }

  /// The most numbers that any row holds.
  std::int64_t most_columns() const;

  /// Reads one row into `out`, which is resized to its length.
  void read_row(std::int64_t head, std::int64_t row, std::vector<double>& out) const;

  /// Calls `look(number)` for every number.
  void for_each_number(const auto& look) const {
    std::vector<double> numbers;
    for (std::int64_t head = 0; head < heads(); ++head) {
      for (std::int64_t row = 0; row < row_count(); ++row) {
        read_row(head, row, numbers);
        for (const double number : numbers) look(number);
      }
    }
  }

  friend bool operator==(const GivenMatrix&, const GivenMatrix&) = default;
};

}  // namespace attnscale
