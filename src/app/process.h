// What the system gives this process: its standard files, what is written to them, processors.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/user_error.h"

namespace attnscale {

/// What a command prints on stdout, and how it ends.
struct Answer {
  std::string text;
  ExitCode code = ExitCode::kDone;
};

/// Occupies those of stdin, stdout and stderr that the caller closed, so that no file opened later
/// gets their numbers and receives what is printed. Writing to them still fails.
void occupy_standard_files();

/// Writes all of `text` to stdout, as `printable` has it. Throws std::system_error if stdout is
/// closed or full.
void write_stdout(const std::string& text);

/// The same to stderr. That it is closed or full is nothing to stop for.
void write_stderr(const std::string& text);

/// A sentence to the reader: one line of stderr; a line end within it is one only before two
/// blanks.
void say(const std::string& sentence);

/// A file that came with this program, such as "configs/schema.json": installed, or in the clone
/// that it was built in. Empty if there is none.
std::filesystem::path shipped_file(const std::string& name);

/// Becomes the script of that name in scripts/, with these arguments; the script finds this program
/// in ATTNSCALE_PROGRAM. Throws UserError if there is no such script.
[[noreturn]] void become_script(const std::string& name, const std::vector<std::string>& arguments);

/// Processors in this process's affinity mask, at least 1.
int available_processors();

}  // namespace attnscale
