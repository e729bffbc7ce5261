// The command `compare`.
#pragma once

#include <cstddef>
#include <string>

#include "report/screen_table.h"

namespace attnscale {

/// The lines that the runs in two folders have in common, and how far apart they are.
std::string compare_text(const std::string& folder_a, const std::string& folder_b,
                         TableFormat format, std::size_t width);

}  // namespace attnscale
