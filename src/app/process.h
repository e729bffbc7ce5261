// What the system gives this process: its standard files, of which stdout must take all that was
// asked for or say so, and processors.
#pragma once

#include <string>

namespace attnscale {

/// Occupies those of stdin, stdout and stderr that the caller closed, so that no file opened later
/// gets their numbers and with it what is printed. Writing to them goes on to fail.
void occupy_standard_files();

/// Writes `text` to stdout and sees it through. Throws std::system_error where it is closed or
/// full.
void write_stdout(const std::string& text);

/// Processors in this process's affinity mask, at least 1.
int available_processors();

}  // namespace attnscale
