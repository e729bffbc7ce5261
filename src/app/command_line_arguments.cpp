#include "app/command_line_arguments.h"

#include <algorithm>
#include <cmath>

#include "config/nearest_name.h"
#include "config/user_error.h"

namespace attnscale {

Arguments::Arguments(std::string command, std::map<std::string, std::vector<std::string>> options,
                     std::vector<std::string> words)
    : command_(std::move(command)), options_(std::move(options)), words_(std::move(words)) {}

const std::string& Arguments::only_word(const std::string& what) const {
  if (words_.empty() || words_.front().empty()) {
    refuse("no " + what + " given; see attnscale " + command_ + " --help");
  }
  if (words_.size() == 1) return words_.front();
  refuse("one " + what + " wanted, but \"" + words_[1] + "\" stands there as well; see attnscale " +
         command_ + " --help");
}

void Arguments::no_words() const {
  if (!words_.empty()) refuse("takes no \"" + words_.front() + "\"");
}

std::optional<std::string> Arguments::text(const std::string& name) const {
  const auto found = options_.find(name);
  if (found == options_.end()) return std::nullopt;
  return found->second.front();
}

std::vector<std::string> Arguments::texts(const std::string& name) const {
  const auto found = options_.find(name);
  return found == options_.end() ? std::vector<std::string>{} : found->second;
}

std::optional<std::int64_t> Arguments::whole_number(const std::string& name, std::int64_t low,
                                                    std::int64_t high) const {
  const auto found = text(name);
  if (!found) return std::nullopt;
  const auto number = parse<std::int64_t>(*found);
  if (number && *number >= low && *number <= high) return number;
  refuse(name, *found,
         "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
}

std::optional<double> Arguments::positive_number(const std::string& name,
                                                 const std::string& what) const {
  const auto found = text(name);
  if (!found) return std::nullopt;
  const auto number = parse<double>(*found);
  if (number && std::isfinite(*number) && *number > 0) return number;
  refuse(name, *found, what);
}

void Arguments::refuse(const std::string& name, const std::string& found,
                       const std::string& wanted) const {
  refuse(std::string("--").append(name) + " wants " + wanted + ", not \"" + found + "\"");
}

void Arguments::refuse(const std::string& message) const {
  throw UserError("attnscale " + command_ + ": " + message);
}

void Arguments::refuse_choice(const std::string& name, const std::string& found,
                              const std::vector<std::string_view>& allowed) const {
  refuse(std::string("--").append(name) + ": " + unknown_name("choice", found, allowed));
}

std::vector<double> parse_scores(const Arguments& arguments, const std::string& text) {
  std::vector<double> scores;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string_view item = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
    item.remove_suffix(item.size() - (item.find_last_not_of(' ') + 1));
    const bool plus = item.starts_with('+') && !item.starts_with("+-");
    const auto score = Arguments::parse<double>(item.substr(plus ? 1 : 0));
    if (!score || !std::isfinite(*score)) {
      arguments.refuse("scores are numbers with commas between them, such as 16,8,0; \"" +
                       std::string(item) + "\" in \"" + text + "\" is " +
                       (item.empty() ? "empty" : "not a finite number"));
    }
    scores.push_back(*score);
  }
  return scores;
}

}  // namespace attnscale
