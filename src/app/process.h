// What the system gives this process: its standard files and its processors.
#pragma once

#include <filesystem>
#include <string>

namespace attnscale {

/// Occupies those of stdin, stdout and stderr that the caller closed, so that no file opened later
/// gets their numbers and receives what is printed. Writing to them still fails.
void occupy_standard_files();

/// Writes all of `text` to stdout, as `printable` has it. Throws std::system_error if stdout is
/// closed or full.
void write_stdout(const std::string& text);

/// Writes a sentence to the reader, as `printable` has it, and a line end to stderr. That stderr is
/// closed or full is nothing to stop for.
void say(const std::string& sentence);

/// The folder of the configs that came with this program: beside its build, or installed. Empty if
/// there is none.
std::filesystem::path shipped_configs();

/// Processors in this process's affinity mask, at least 1.
int available_processors();

}  // namespace attnscale
