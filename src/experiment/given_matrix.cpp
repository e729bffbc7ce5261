#include "experiment/given_matrix.h"

#include <algorithm>

namespace attnscale {

std::int64_t GivenMatrix::most_columns() const {
  if (file) return file->matrix.columns;
  std::int64_t most = 0;
  for (const std::vector<double>& row : rows) most = std::max<std::int64_t>(most, std::ssize(row));
  return most;
}

void GivenMatrix::read_row(std::int64_t head, std::int64_t row, std::vector<double>& out) const {
  if (!file) {
    out = rows[static_cast<std::size_t>(row)];
    return;
  }
  out.resize(static_cast<std::size_t>(file->matrix.columns));
  file->matrix.read_row(head, row, out);
}

}  // namespace attnscale
