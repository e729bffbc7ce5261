// What a terminal may be shown of texts that others wrote: names, paths, the contents of files.
#pragma once

#include <string>
#include <string_view>

namespace attnscale {

/// The text, each control character but a line end and a tab as "\u001b", and each byte that is not
/// UTF-8 as "\xff": a terminal would obey the first and guess at the second. Nothing else changes.
std::string printable(std::string_view text);

}  // namespace attnscale
