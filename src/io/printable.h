// What a terminal may be shown of texts that others wrote: names, paths, the contents of files.
#pragma once

#include <string>
#include <string_view>

namespace attnscale {

/// The text, each control character but a line end and a tab as "\u001b", and each byte that is not
/// UTF-8 as "\xff": a terminal would obey the first and guess at the second. Marks that turn the
/// direction of text, or that nobody sees, are control characters. Nothing else changes.
std::string printable(std::string_view text);

/// The same of a name or a sentence, in one line: line ends and tabs are control characters too.
std::string in_one_line(std::string_view text);

/// The word as a command needs it that a reader may paste into a shell: "a b" in quotes.
std::string shell_word(std::string_view word);

}  // namespace attnscale
