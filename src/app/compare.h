// The command `compare`.
#pragma once

#include <cstddef>
#include <string>

#include "app/command_line.h"

namespace attnscale {

/// The lines that two runs have in common, and how far apart they are.
std::string compare_text(const CompareCommand& command, std::size_t width);

}  // namespace attnscale
