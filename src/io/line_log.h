// A file that only grows, by whole lines: the machine log of a run. Knows nothing of what is in a
// line.
#pragma once

#include <filesystem>
#include <string_view>

#include "io/file_descriptor.h"

namespace attnscale {

/// A log of lines, open for appending. Threads may append at once: each line is one write(2).
class LineLog {
 public:
  /// Opens or creates the file and removes a torn last line, one that a killed process did not end.
  /// Throws std::system_error that names the file.
  explicit LineLog(std::filesystem::path path);

  /// Appends `line`, which must hold no line end, and a line end. Throws std::system_error that
  /// names the file if not all of it could be written; the next opening removes what is torn.
  void append(std::string_view line);

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
};

}  // namespace attnscale
