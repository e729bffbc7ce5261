#include "app/arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cctype>
#include <cmath>

#include "config/nearest_name.h"
#include "config/user_error.h"
#include "experiment/presets.h"
#include "formula/parse.h"
#include "io/json_text.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

namespace po = boost::program_options;

using Rows = std::span<const OptionRow>;

po::value_semantic* semantic_of(const OptionRow& row) {
  const std::string value(row.value);
  if (value.empty()) return po::bool_switch();
  if (row.may_be_repeated) return po::value<std::vector<std::string>>()->value_name(value);
  return po::value<std::string>()->value_name(value);
}

po::options_description description_of(Rows rows) {
  po::options_description options;
  for (const OptionRow& row : rows) {
    options.add_options()(std::string(row.name).c_str(), semantic_of(row),
                          std::string(row.help).c_str());
  }
  return options;
}

[[noreturn]] void refuse(const std::string& command, const std::string& message) {
  throw UserError("attnscale " + command + ": " + message);
}

// Refuses an unknown option and names the nearest one.
[[noreturn]] void refuse_option(const std::string& command, Rows rows, const std::string& found) {
  std::vector<std::string> names;
  for (const OptionRow& row : rows) names.push_back(fmt::format("--{}", row.name));
  const std::vector<std::string_view> views(names.begin(), names.end());
  refuse(command, unknown_name("option", found.substr(0, found.find('=')), views));
}

bool is_short_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' &&
         std::isalpha(static_cast<unsigned char>(word[1])) != 0;
}

// Refuses what Program_options would misread: an option as the value of the one before it, and a
// short option as a word. A number such as -1,2 is an ordinary word.
void check_words(const std::string& command, Rows rows, std::span<const std::string> words) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string& word = words[i];
    if (is_short_option(word)) refuse_option(command, rows, word);
    if (!word.starts_with("--")) continue;
    const auto row = std::ranges::find(rows, word.substr(2), &OptionRow::name);
    if (row == rows.end() || row->value.empty()) continue;
    ++i;
    if (i == words.size()) refuse(command, fmt::format("{} needs {} after it", word, row->value));
    if (words[i].starts_with("--")) {
      refuse(command,
             fmt::format("{} needs {} after it, not {}", word, row->value, shortened(words[i])));
    }
  }
}

void check_choice(const std::string& command, const OptionRow& row, const std::string& found) {
  std::vector<std::string_view> choices;
  for (std::string_view rest = row.choices; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    choices.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (choices.empty() || std::ranges::find(choices, found) != choices.end()) return;
  refuse(command, fmt::format("--{}: {}", row.name, unknown_name("choice", found, choices)));
}

// Why the name of a preset alone is no scaling, and how to write it instead.
std::string numbers_needed(const PresetRow& row) {
  std::vector<std::string> needed;
  std::vector<std::string> usual;
  for (const PresetParameter& one : row.parameters()) {
    if (one.is_required()) {
      needed.push_back(fmt::format("{} ({})", one.name, one.help));
    } else {
      usual.push_back(fmt::format("{} is {}", one.name, one.fallback));
    }
  }
  const bool is_in_formula = row.normaliser == NormaliserKind::kSoftmax;
  const std::string text =
      is_in_formula
          ? fmt::format("write its formula with numbers for the names in it: \"{}\"", row.formula)
          : fmt::format(
                "no formula says it: \"{}\" are its logits without it, and a config takes "
                "{{\"preset\": \"{}\", \"{}\": X}}",
                row.formula, row.name, row.bias);
  return fmt::format("needs {}; {}{}", join(needed, " and "), text,
                     usual.empty() ? "" : "; by default " + join(usual, ", "));
}

}  // namespace

Arguments::Arguments(std::vector<std::string> typed,
                     std::map<std::string, std::vector<std::string>> options,
                     std::vector<std::string> words)
    : typed_(std::move(typed)), options_(std::move(options)), words_(std::move(words)) {}

const std::string& Arguments::only_word(const std::string& what) const {
  if (words_.empty() || words_.front().empty()) {
    refuse(fmt::format("no {} given; see attnscale {} --help", what, typed_.front()));
  }
  if (words_.size() == 1) return words_.front();
  refuse(fmt::format("expected one {}, but \"{}\" is given as well; see attnscale {} --help", what,
                     shortened(words_[1]), typed_.front()));
}

void Arguments::no_words() const {
  if (!words_.empty()) refuse("takes no \"" + shortened(words_.front()) + "\"");
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
  const auto number = parse_number<std::int64_t>(*found);
  if (number && *number >= low && *number <= high) return number;
  refuse(name, *found, fmt::format("a whole number from {} to {}", low, high));
}

std::optional<double> Arguments::number(const std::string& name, const std::string& what,
                                        const std::function<bool(double)>& is_allowed) const {
  const auto found = text(name);
  if (!found) return std::nullopt;
  const auto number = parse_number<double>(*found);
  if (number && std::isfinite(*number) && is_allowed(*number)) return number;
  refuse(name, *found, what);
}

void Arguments::refuse(const std::string& name, const std::string& found,
                       const std::string& wanted) const {
  refuse(fmt::format("--{} needs {}, not \"{}\"", name, wanted, shortened(found)));
}

void Arguments::refuse(const std::string& message) const {
  throw UserError("attnscale " + typed_.front() + ": " + message);
}

std::string options_text(Rows options, std::size_t width) {
  const auto name_of = [](const OptionRow& row) {
    return fmt::format("  --{}{}{}", row.name, row.value.empty() ? "" : " ", row.value);
  };
  std::size_t indent = 0;
  for (const OptionRow& row : options) indent = std::max(indent, name_of(row).size() + 2);
  std::string text = "Options:\n";
  for (const OptionRow& row : options) text += list_entry(name_of(row), row.help, indent, width);
  return text;
}

Arguments parse_options(Rows options, std::vector<std::string> typed) {
  namespace style = po::command_line_style;
  const std::string command = typed.front();
  const std::vector<std::string> words(typed.begin() + 1, typed.end());
  check_words(command, options, words);
  const po::options_description description = description_of(options);
  try {
    const po::parsed_options parsed =
        po::command_line_parser(words)
            .options(description)
            .style(style::allow_long | style::long_allow_adjacent | style::long_allow_next)
            .run();
    po::variables_map checked;
    po::store(parsed, checked);
    std::map<std::string, std::vector<std::string>> given;
    std::vector<std::string> positional;
    for (const po::option& option : parsed.options) {
      auto& texts = option.string_key.empty() ? positional : given[option.string_key];
      texts.insert(texts.end(), option.value.begin(), option.value.end());
    }
    if (positional.size() > 1 && std::ranges::find(positional, "") != positional.end()) {
      refuse(command, "a name is empty; see attnscale " + command + " --help");
    }
    for (const OptionRow& row : options) {
      const auto found = given.find(std::string(row.name));
      const bool has_text = found != given.end() && !found->second.empty();  // a flag has none
      if (has_text) check_choice(command, row, found->second.front());
    }
    return {std::move(typed), std::move(given), std::move(positional)};
  } catch (const po::unknown_option& error) {
    refuse_option(command, options, error.get_option_name());
  } catch (const po::multiple_occurrences& error) {
    refuse(command, error.get_option_name() + " is given twice");
  } catch (const po::error& error) {
    refuse(command, error.what());
  }
}

TableFormat format_of(const Arguments& arguments) {
  return arguments.choice<TableFormat>("format", {{"table", TableFormat::kTable},
                                                  {"markdown", TableFormat::kMarkdown},
                                                  {"csv", TableFormat::kCsv},
                                                  {"json", TableFormat::kJson}});
}

std::vector<double> parse_numbers(const Arguments& arguments, std::string_view what,
                                  const std::string& text) {
  std::vector<double> scores;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string_view item = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
    item.remove_suffix(item.size() - (item.find_last_not_of(' ') + 1));
    const bool plus = item.starts_with('+') && !item.starts_with("+-");
    const auto score = parse_number<double>(item.substr(plus ? 1 : 0));
    if (!score || !std::isfinite(*score)) {
      arguments.refuse(fmt::format(
          "{} are numbers with commas between them, such as 16,8,0; \"{}\" in \"{}\" is {}", what,
          shortened(item), shortened(text), item.empty() ? "empty" : "not a finite number"));
    }
    scores.push_back(*score);
  }
  return scores;
}

std::string axis_json(const std::string& text) {
  if (text.starts_with('[') || text.starts_with('{')) return text;
  const std::size_t dots = text.find("..");
  const std::size_t mark = text.find_first_of("x+", dots == std::string::npos ? dots : dots + 2);
  if (mark != std::string::npos) {
    return fmt::format(R"({{"from": {}, "to": {}, "{}": {}}})", text.substr(0, dots),
                       text.substr(dots + 2, mark - dots - 2), text[mark] == 'x' ? "times" : "step",
                       text.substr(mark + 1));
  }
  return text.find(',') == std::string::npos ? text : "[" + text + "]";
}

std::string names_json(const std::vector<std::string>& texts,
                       std::string (*json_of)(std::string_view name)) {
  std::string items;
  const auto add = [&](const std::string& item) { items += (items.empty() ? "" : ", ") + item; };
  for (const std::string& text : texts) {
    if (texts.size() == 1 && (text == "all" || text.starts_with('['))) return text;
    if (text.starts_with('{')) {
      add(text);
      continue;
    }
    int depth = 0;
    std::string name;
    for (const char c : text + ",") {
      depth += (c == '(' || c == '[') - (c == ')' || c == ']');
      if (c != ',' || depth > 0) {
        name += c;
        continue;
      }
      add(json_of(std::exchange(name, "")));
    }
  }
  return "[" + items + "]";
}

Scaling scaling_like(const std::string& asked, const std::string& text) {
  if (auto scaling = find_scaling(text)) return *scaling;
  if (const PresetRow* row = find_preset(text)) {
    throw UserError(fmt::format("{} \"{}\" {}", asked, text, numbers_needed(*row)));
  }
  try {
    return make_scaling(text, parse_formula(text, FormulaKind::kLogit, {}, nearest_name));
  } catch (const FormulaError& error) {
    throw UserError(
        fmt::format("{} \"{}\" is no preset (see attnscale list scalings) and no formula: {}",
                    asked, text, error.what()));
  }
}

}  // namespace attnscale
