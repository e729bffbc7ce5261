// A scaling as a word of the command line.
#pragma once

#include <string>

#include "experiment/scaling.h"

namespace attnscale {

/// The preset of that name, or the formula that the text is, such as "q.k / sqrt(d)". Throws
/// UserError for what is neither; `asked` names the command and its option.
Scaling scaling_like(const std::string& asked, const std::string& text);

}  // namespace attnscale
