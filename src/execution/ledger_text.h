// A cell's ledger as lines of text and back, bit for bit: what checkpoints and messages between
// ranks are made of.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "execution/ledger.h"

namespace attnscale {

/// The text is not in the expected form; the message says what is wrong.
class TextError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads a text from its front, by lines and by words separated by single spaces.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }

  /// Starts the next line, whose first word must be `keyword`. Every word of the line before must
  /// have been taken. All functions throw TextError.
  void start_line(std::string_view keyword);
  bool at_line_end() const { return line_.empty(); }

  std::string_view take_word();
  std::int64_t take_integer();
  double take_double();

  /// What is left of this line, spaces and all.
  std::string_view take_rest_of_line();

  /// The next `size` bytes after this line, and the line end that must follow them.
  std::string_view take_bytes(std::int64_t size);

  /// All lines after this one.
  std::string_view take_rest() { return std::exchange(rest_, {}); }

 private:
  std::string_view rest_;
  std::string_view line_;
};

/// Appends the lines of `cell` to `text`.
///
///     cell NODES COUNTS HISTOGRAMS   how many of the following there are
///     done FIRST LAST ...        ranges of blocks that are done, LAST not included
///     node LEVEL INDEX GROUPS    then for each group of CellMoments: DIMENSION COUNT, means,
///                                central sums
///     counts MIN MAX BIN TIMES ...
///     histogram TIMES ...
///
/// Doubles are the hexadecimal digits of their 64 bits.
void append_text(const CellLedger& cell, std::string& text);

/// Takes what append_text wrote of that cell of an experiment. Throws TextError, also for numbers
/// that are not possible (ledger_check.h).
CellLedger take_cell(TextReader& reader, const Experiment& experiment, const Cell& cell);

}  // namespace attnscale
