#include <algorithm>
#include <array>

#include "app/arguments.h"
#include "app/commands.h"
#include "fuzz/targets.h"

namespace attnscale {

// Each line is a word that somebody types after `attnscale softmax`.
void fuzz_softmax(std::string_view bytes) {
  std::vector<std::string> words{"softmax"};
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    words.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  may_refuse([&] {
    const std::array options{OptionRow{"d", "N", ""}};
    const Arguments typed = parse_options(options, words);
    softmax_text(parse_numbers(typed, "scores", typed.only_word("list of scores")),
                 typed.whole_number("d", 1, Arguments::kLargestSize), 80);
  });
}

}  // namespace attnscale
