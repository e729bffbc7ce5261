#include "report/screen_table.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "io/printable.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;

enum class Side { kLeft, kRight };

struct ColumnLook {
  std::size_t width;
  Side side;
};

bool looks_like_a_number(const std::string& text) {
  const std::size_t start = text.find_first_not_of("(+-.");
  return start != std::string::npos && text[start] >= '0' && text[start] <= '9';
}

// A column of numbers is one whose texts are numbers or empty, with at least one number.
ColumnLook look_of(const ScreenTable& table, std::size_t column) {
  ColumnLook look{table.header[column].size(), Side::kLeft};
  bool any_number = false;
  bool any_word = false;
  for (const std::vector<std::string>& row : table.rows) {
    look.width = std::max(look.width, row[column].size());
    any_number = any_number || looks_like_a_number(row[column]);
    any_word = any_word || (!row[column].empty() && !looks_like_a_number(row[column]));
  }
  if (any_number && !any_word) look.side = Side::kRight;
  return look;
}

std::vector<ColumnLook> looks_of(const ScreenTable& table) {
  std::vector<ColumnLook> looks;
  for (std::size_t i = 0; i < table.header.size(); ++i) looks.push_back(look_of(table, i));
  return looks;
}

std::string padded(const std::string& text, const ColumnLook& look) {
  const std::string space(look.width - std::min(look.width, text.size()), ' ');
  return look.side == Side::kRight ? space + text : text + space;
}

// Columns of each piece of a table cut to `width`, label columns first.
std::vector<std::vector<std::size_t>> cut_columns(const ScreenTable& table,
                                                  const std::vector<ColumnLook>& looks,
                                                  std::size_t width) {
  std::vector<std::size_t> labels;
  std::size_t labels_width = kIndent;
  for (std::size_t i = 0; i < std::min(table.label_columns, looks.size()); ++i) {
    labels.push_back(i);
    labels_width += looks[i].width + kGap;
  }
  std::vector<std::vector<std::size_t>> pieces = {labels};
  std::size_t used = labels_width;
  for (std::size_t i = labels.size(); i < looks.size(); ++i) {
    if (used + looks[i].width > width && pieces.back().size() > labels.size()) {
      pieces.push_back(labels);
      used = labels_width;
    }
    pieces.back().push_back(i);
    used += looks[i].width + kGap;
  }
  return pieces;
}

void append_line(std::string& out, const std::vector<std::string>& cells,
                 const std::vector<std::size_t>& columns, const std::vector<ColumnLook>& looks) {
  std::string line;
  for (const std::size_t i : columns) {
    line += std::string(line.empty() ? kIndent : kGap, ' ') + padded(cells[i], looks[i]);
  }
  line.resize(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) {
    line += ' ';
    for (const char c : cell) line += c == '|' ? std::string("\\|") : std::string(1, c);
    line += " |";
  }
  return line + "\n";
}

// Names that others chose may hold a line end, which would break the table.
void keep_to_lines(ScreenTable& table) {
  table.caption = in_one_line(table.caption);
  for (std::vector<std::string>& row : table.rows) {
    for (std::string& cell : row) cell = in_one_line(cell);
  }
}

}  // namespace

std::size_t text_width(const ScreenTable& table) {
  std::size_t width = 0;
  for (const ColumnLook& look : looks_of(table)) width += look.width + kGap;
  return width;
}

std::string to_text(ScreenTable table, std::size_t width) {
  keep_to_lines(table);
  std::string out = table.caption.empty() ? "" : wrapped(table.caption, width) + "\n";
  const std::vector<ColumnLook> looks = looks_of(table);
  bool first = true;
  for (const std::vector<std::size_t>& columns : cut_columns(table, looks, width)) {
    if (!first) out += "\n";
    first = false;
    append_line(out, table.header, columns, looks);
    for (const std::vector<std::string>& row : table.rows) append_line(out, row, columns, looks);
  }
  for (const std::string& note : table.notes) {
    out += wrapped(std::string(kIndent, ' ') + note, width, 2 * kIndent) + "\n";
  }
  return out;
}

std::string to_markdown(ScreenTable table) {
  keep_to_lines(table);
  std::string out = table.caption.empty() ? "" : table.caption + "\n\n";
  out += markdown_line(table.header) + "|";
  for (const ColumnLook& look : looks_of(table)) {
    out += look.side == Side::kRight ? " ---: |" : " --- |";
  }
  out += "\n";
  for (const std::vector<std::string>& row : table.rows) out += markdown_line(row);
  for (const std::string& note : table.notes) out += "\n" + note + "\n";
  return out;
}

std::string wrapped(std::string text, std::size_t width, std::size_t indent) {
  std::size_t first = text.find_first_not_of(' ');  // of the line: no cut in its indent
  for (std::size_t begin = 0; text.size() - begin > width;) {
    std::size_t blank = text.rfind(' ', begin + width);
    if (blank == std::string::npos || blank <= begin + std::max(first, kIndent)) {
      blank = text.find(' ', std::max(begin + width, begin + first));  // a word as long as the line
    }
    if (blank == std::string::npos) break;
    text.replace(blank, 1, "\n" + std::string(indent, ' '));
    begin = blank + 1;
    first = indent;
  }
  return text;
}

std::string list_entry(std::string_view label, std::string_view meaning, std::size_t indent,
                       std::size_t width) {
  constexpr std::size_t kNarrowest = 30;  // of a column of meanings
  std::string line(label);
  if (indent + kNarrowest > width || line.size() + kGap > indent) {
    indent = std::min(indent, 2 * kIndent);
    if (!label.empty()) line += "\n";
    return line + wrapped(std::string(indent, ' ').append(meaning), width, indent) + "\n";
  }
  line.resize(indent, ' ');
  return wrapped(line.append(meaning), width, indent) + "\n";
}

ScreenSize terminal_size(int file) {
  ScreenSize size;
  winsize window{};
  if (::ioctl(file, TIOCGWINSZ, &window) == 0) {
    if (window.ws_col > 0) size.width = window.ws_col;
    if (window.ws_row > 0) size.height = window.ws_row;
  }
  for (const auto& [name, side] : {std::pair("COLUMNS", &size.width), {"LINES", &size.height}}) {
    const char* said = std::getenv(name);
    const auto number = parse_number<std::size_t>(said != nullptr ? said : "");
    if (number.value_or(0) > 0) *side = *number;
  }
  return size;
}

}  // namespace attnscale
