#include "io/csv_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "io/whole_file.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  bool at_end() const { return rest_.empty(); }

  CsvRecord take_record() {
    CsvRecord record{line_, {}};
    do {
      record.fields.push_back(take_field());
    } while (take(","));
    if (!take("\n") && !take("\r\n")) {
      fail(rest_.empty() ? "the last line has no line end: the file was cut off"
                         : "a quote or carriage return in a field without quotes");
    }
    ++line_;
    return record;
  }

  [[noreturn]] void fail(const std::string& what) const { fail_at(line_, what); }

  [[noreturn]] void fail_at(std::size_t line, const std::string& what) const {
    throw std::runtime_error(fmt::format("{}:{}: {}", name_, line, what));
  }

 private:
  std::string take_field() {
    if (take("\"")) return take_quoted();
    const std::size_t length = std::min(rest_.find_first_of(",\r\n\""), rest_.size());
    std::string field(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return field;
  }

  // The rest of a field whose opening quote is taken.
  std::string take_quoted() {
    const std::size_t first_line = line_;
    std::string field;
    for (;;) {
      const std::size_t length = rest_.find('"');
      if (length == std::string_view::npos) fail_at(first_line, "a field has no closing quote");
      for (const char c : rest_.substr(0, length)) line_ += c == '\n' ? 1 : 0;
      field += rest_.substr(0, length);
      rest_.remove_prefix(length + 1);
      if (!take("\"")) break;
      field += '"';
    }
    if (!rest_.empty() && std::string_view(",\r\n").find(rest_[0]) == std::string_view::npos) {
      fail("text after the closing quote of a field");
    }
    return field;
  }

  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::string_view rest_;
  const std::string& name_;
  std::size_t line_ = 1;
};

// The lines of a CSV file of numbers, one row each.
class CsvNumbers {
 public:
  CsvNumbers(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  Tensor read() {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
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

  // Whether it is a number, or begins as one does, with digits, a point or a sign: one that cannot
  // be read must not pass as a name.
  static bool looks_like_number(std::string_view cell) {
    constexpr std::string_view kMinus = "\u2212";  // as texts are set, not as numbers are written
    if (parse(cell)) return true;
    cell.remove_prefix(std::min(cell.find_first_not_of(" \t\"'"), cell.size()));
    return cell.starts_with(kMinus) ||
           (!cell.empty() && std::string_view("0123456789.+-").find(cell[0]) != cell.npos);
  }

  // Names of columns.
  static bool is_header(std::string_view line) {
    return std::ranges::none_of(cells_of(line), [](std::string_view cell) {
      return cell.empty() || looks_like_number(cell);
    });
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
        fail_here(fmt::format(
            "cell {}: found {}; expected a finite number such as 0.25 or -1e-3, without "
            "quotes, with commas between numbers",
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

CsvFile parse_csv(std::string_view text, const std::string& name) {
  CsvParser parser(text, name);
  if (parser.at_end()) parser.fail("the file is empty: there is no header");
  CsvFile file{parser.take_record().fields, {}};
  while (!parser.at_end()) {
    CsvRecord record = parser.take_record();
    if (record.fields.size() != file.columns.size()) {
      parser.fail_at(record.line, fmt::format("{} fields where the header has {}",
                                              record.fields.size(), file.columns.size()));
    }
    file.records.push_back(std::move(record));
  }
  return file;
}

CsvFile read_csv(const std::filesystem::path& path) {
  return parse_csv(read_file(path), path.string());
}

Tensor read_csv_matrix(std::string_view text, const std::string& name) {
  return CsvNumbers(text, name).read();
}

}  // namespace attnscale
