// What a person typed after a command: options and words as plain text, and their conversion to
// numbers and choices. Knows no command and no option by name; every refusal says what is expected.
// Program_options is not visible outside.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiment/scaling.h"
#include "report/screen_table.h"

namespace attnscale {

/// An option of a command.
struct OptionRow {
  std::string_view name;   ///< without the dashes
  std::string_view value;  ///< placeholder of its value, such as "DIR"; empty for a flag
  std::string_view help;
  bool may_be_repeated = false;
  std::string_view choices = {};  ///< with a blank between them; empty if others are allowed too
};

inline constexpr OptionRow kHelp{"help", "", "show this text"};

/// The options and words of one command. All functions that refuse throw UserError.
class Arguments {
 public:
  /// Up to here every whole number is a double.
  static constexpr std::int64_t kLargestSize = std::int64_t{1} << 53;

  /// `typed` begins with the command. `options` holds the values of each given option in order; a
  /// flag has none.
  Arguments(std::vector<std::string> typed, std::map<std::string, std::vector<std::string>> options,
            std::vector<std::string> words);

  /// Everything, as it was typed.
  const std::vector<std::string>& typed() const { return typed_; }

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

  /// Refuses what is not a finite number that `is_allowed`; `what` names it in the error.
  std::optional<double> number(const std::string& name, const std::string& what,
                               const std::function<bool(double)>& is_allowed) const;

  std::optional<double> positive_number(const std::string& name, const std::string& what) const {
    return number(name, what, [](double number) { return number > 0; });
  }

  /// The value that belongs to the given word, one of its row's choices; the first if it is absent.
  template <typename Choice>
  Choice choice(const std::string& name,
                std::initializer_list<std::pair<std::string_view, Choice>> choices) const {
    const auto found = text(name);
    for (const auto& [word, value] : choices) {
      if (found == word) return value;
    }
    return choices.begin()->second;
  }

  /// Throws: --name needs `wanted`, not what was found.
  [[noreturn]] void refuse(const std::string& name, const std::string& found,
                           const std::string& wanted) const;

  /// Throws the message with the command before it.
  [[noreturn]] void refuse(const std::string& message) const;

 private:
  std::vector<std::string> typed_;
  std::map<std::string, std::vector<std::string>> options_;
  std::vector<std::string> words_;
};

/// The options as --help prints them, for a screen of `width` characters.
std::string options_text(std::span<const OptionRow> options, std::size_t width);

/// Splits what was typed into options and words; its first word is the command. Accepts long
/// options only, and never guesses from an abbreviation. Throws UserError for an option that the
/// command does not have, one without its value or with one that is no choice, and one given twice.
Arguments parse_options(std::span<const OptionRow> options, std::vector<std::string> typed);

/// What --format says, of those choices that its row has.
TableFormat format_of(const Arguments& arguments);

/// The numbers of a text such as "16,8,0", which messages call `what`; blanks around a number and
/// a plus sign are allowed. Refuses an empty item and what is not a finite number.
std::vector<double> parse_numbers(const Arguments& arguments, std::string_view what,
                                  const std::string& text);

/// What was typed for a number, a list ("4,16") or a range ("4..1024x4", "2..10+2") of a config, as
/// JSON; what is none of them stays as it is.
std::string axis_json(const std::string& text);

/// The same for a list of names: JSON, or names with commas between them, but for commas within
/// brackets. `json_of` makes JSON of one that is none.
std::string names_json(const std::vector<std::string>& texts,
                       std::string (*json_of)(std::string_view name));

/// The preset of that name, or the formula that the text is, such as "q.k / sqrt(d)". Throws
/// UserError for what is neither; `asked` names the command and its option.
Scaling scaling_like(const std::string& asked, const std::string& text);

}  // namespace attnscale
