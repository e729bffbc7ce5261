#include "io/csv_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "io/whole_file.h"

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

}  // namespace attnscale
