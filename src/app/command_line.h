// The commands as rows of a table, and the way from arguments to one of them or a help text.
#pragma once

#include <string>
#include <vector>

#include "config/user_error.h"
#include "execution/executor.h"

namespace attnscale {

/// Does what the arguments after the program's name say. Throws UserError for anything unknown and
/// names the nearest known word; options are never guessed from an abbreviation.
ExitCode run_command(const std::vector<std::string>& arguments, Executor& executor);

}  // namespace attnscale
