// A table of short texts as a person reads it: aligned on a terminal or as GitHub markdown.
// Knows nothing of what the texts mean; they are ASCII.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attnscale {

/// How tables are printed.
enum class TableFormat { kTable, kMarkdown, kCsv, kJson };

struct ScreenTable {
  std::string caption;  ///< above the table; may be empty
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `header`
  std::size_t label_columns = 1;               ///< the first columns, repeated if a table is cut
  std::vector<std::string> notes;              ///< lines below the table
};

/// Characters in the longest line that to_text would print without cutting.
std::size_t text_width(const ScreenTable& table);

/// Columns two spaces apart and indented by two; numbers are aligned to the right. A table wider
/// than `width` is cut between columns into tables below each other, each with the label columns;
/// a single column is never cut. Control characters of cells and caption are shown as such.
std::string to_text(ScreenTable table, std::size_t width);

/// A GitHub table; numbers are aligned to the right.
std::string to_markdown(ScreenTable table);

/// The text in lines of at most `width` characters, cut at blanks, where its words allow that; all
/// but the first are indented by `indent`.
std::string wrapped(std::string text, std::size_t width, std::size_t indent = 2);

/// A label of a list and what it means, which begins at `indent`, wrapped; ends with a line end. On
/// a screen too narrow for two columns the meaning is on lines of its own.
std::string list_entry(std::string_view label, std::string_view meaning, std::size_t indent,
                       std::size_t width);

/// Characters.
struct ScreenSize {
  std::size_t width = 100;
  std::size_t height = 40;
};

/// Of the terminal that `file` is: the environment's COLUMNS and LINES, else the terminal's own,
/// else 100 by 40.
ScreenSize terminal_size(int file);

inline std::size_t terminal_width(int file) {
  return terminal_size(file).width;
}

}  // namespace attnscale
