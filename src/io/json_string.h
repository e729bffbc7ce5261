// A text as JSON writes it.
#pragma once

#include <string>
#include <string_view>

namespace attnscale {

/// The characters in double quotes, escaped as JSON asks; UTF-8 stays as it is.
std::string quote(std::string_view text);

}  // namespace attnscale
