// From arguments to an exit code: the same for every executable.
#pragma once

#include <string>
#include <vector>

#include "execution/executor.h"

namespace attnscale {

/// Runs the command that `arguments` (without the program's name) name, measuring with
/// `executor`. Its output goes to stdout, an error message to stderr. Returns the exit code.
int run_program(const std::vector<std::string>& arguments, Executor& executor);

}  // namespace attnscale
