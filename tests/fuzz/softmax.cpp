#include <algorithm>

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
    const Command command = parse_command_line(words);
    if (const auto* scores = std::get_if<SoftmaxCommand>(&command)) softmax_text(*scores, 80);
  });
}

}  // namespace attnscale
