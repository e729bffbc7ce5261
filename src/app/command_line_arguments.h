// What a person typed after a command, as plain text, and its conversion to numbers and choices.
// Knows no command and no option by name; every refusal says what was wanted instead.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscale {

/// The options and words of one command. All functions that refuse throw UserError.
class Arguments {
 public:
  /// `options` holds the texts of each option given, in the order given; a flag has none.
  Arguments(std::string command, std::map<std::string, std::vector<std::string>> options,
            std::vector<std::string> words);

  const std::vector<std::string>& words() const { return words_; }

  /// The only word, such as the config; `what` names it in the error. Refuses an empty one.
  const std::string& only_word(const std::string& what) const;

  /// Refuses any word.
  void no_words() const;

  bool flag(const std::string& name) const { return options_.contains(name); }

  /// The text of an option that may be given once.
  std::optional<std::string> text(const std::string& name) const;

  /// The texts of an option that may be repeated.
  std::vector<std::string> texts(const std::string& name) const;

  /// Refuses what is not an integer from `low` to `high`.
  std::optional<std::int64_t> whole_number(const std::string& name, std::int64_t low,
                                           std::int64_t high) const;

  /// Refuses what is not a finite number above 0; `what` names it in the error.
  std::optional<double> positive_number(const std::string& name, const std::string& what) const;

  /// The value that stands beside the word given, `otherwise` where none is.
  template <typename Choice, std::size_t count>
  Choice choice(const std::string& name,
                const std::array<std::pair<const char*, Choice>, count>& choices,
                Choice otherwise) const {
    const auto found = text(name);
    if (!found) return otherwise;
    std::vector<std::string_view> allowed;
    for (const auto& [word, value] : choices) {
      if (*found == word) return value;
      allowed.emplace_back(word);
    }
    refuse_choice(name, *found, allowed);
  }

  /// Throws: --name wants `wanted`, not what was found.
  [[noreturn]] void refuse(const std::string& name, const std::string& found,
                           const std::string& wanted) const;

  /// Throws the message with the command before it.
  [[noreturn]] void refuse(const std::string& message) const;

  /// The number that the whole of `text` spells; nothing where it spells none or too large a one.
  template <typename Number>
  static std::optional<Number> parse(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
  }

 private:
  [[noreturn]] void refuse_choice(const std::string& name, const std::string& found,
                                  const std::vector<std::string_view>& allowed) const;

  std::string command_;
  std::map<std::string, std::vector<std::string>> options_;
  std::vector<std::string> words_;
};

/// The numbers of a text such as "16,8,0"; blanks around a number and a plus sign are allowed.
/// Refuses an empty item and what is not a finite number.
std::vector<double> parse_scores(const Arguments& arguments, const std::string& text);

}  // namespace attnscale
