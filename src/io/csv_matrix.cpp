#include "io/csv_matrix.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "io/tensor.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

// The lines of a CSV file of numbers, one row each.
class CsvNumbers {
 public:
  CsvNumbers(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  Tensor read() {
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
        fail_here(fmt::format("found a row of {} numbers; expected {}, as in the first row",
                              numbers.size() - before, columns));
      }
    }
    if (rows == 0) fail_here("found no numbers; expected one row of them per line");
    return tensor_of(std::move(numbers), rows, static_cast<std::int64_t>(columns));
  }

 private:
  static std::optional<double> parse(std::string_view cell) {
    if (cell.starts_with('+')) cell.remove_prefix(1);
    return parse_number<double>(cell);
  }

  static std::string_view trimmed(std::string_view cell) {
    while (cell.starts_with(' ')) cell.remove_prefix(1);
    while (cell.ends_with(' ')) cell.remove_suffix(1);
    return cell;
  }

  static std::vector<std::string_view> cells_of(std::string_view line) {
    std::vector<std::string_view> cells;
    for (;;) {
      const std::size_t comma = std::min(line.find(','), line.size());
      cells.push_back(trimmed(line.substr(0, comma)));
      if (comma == line.size()) return cells;
      line.remove_prefix(comma + 1);
    }
  }

  // Names of columns: no cell is a number, and none is empty.
  static bool is_header(std::string_view line) {
    return std::ranges::none_of(cells_of(line),
                                [](std::string_view cell) { return cell.empty() || parse(cell); });
  }

  std::string_view take_line() {
    ++line_;
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) {
      fail_here("the last line has no line end: the file was cut off; end it with a new line");
    }
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  void add_cells(std::string_view line, std::vector<double>& numbers) {
    constexpr std::size_t kShown = 40;
    std::size_t column = 0;
    for (const std::string_view cell : cells_of(line)) {
      ++column;
      const std::optional<double> number = parse(cell);
      if (!number || !(std::isfinite(*number) || *number < 0)) {
        fail_here(
            fmt::format("cell {}: found {}; expected a finite number such as 0.25 or -1e-3, with "
                        "commas between numbers",
                        column, cell.empty() ? "nothing" : cell.substr(0, kShown)));
      }
      numbers.push_back(*number);
    }
  }

  Tensor tensor_of(std::vector<double> numbers, std::int64_t rows, std::int64_t columns) const {
    const auto held = std::make_shared<const std::vector<double>>(std::move(numbers));
    Tensor tensor;
    tensor.name = name_;
    tensor.type = "text";
    tensor.format = NumberFormat::kFloat64;
    tensor.item_bytes = sizeof(double);
    tensor.shape = {rows, columns};
    tensor.numbers =
        std::shared_ptr<const std::byte>(held, reinterpret_cast<const std::byte*>(held->data()));
    return tensor;
  }

  [[noreturn]] void fail_here(const std::string& what) const {
    throw MatrixFileError(fmt::format("{}:{}: {}", name_, line_, what));
  }

  std::string_view rest_;
  const std::string& name_;
  std::size_t line_ = 0;
};

}  // namespace

Tensor read_csv_matrix(std::string_view text, const std::string& name) {
  return CsvNumbers(text, name).read();
}

}  // namespace attnscale
