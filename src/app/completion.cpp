#include "app/completion.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "config/nearest_name.h"

namespace attnscale {
namespace {

using Commands = std::span<const CompletedCommand>;

std::string option_words(std::span<const OptionRow> options) {
  std::string words;
  for (const OptionRow& row : options) words += fmt::format(" --{}", row.name);
  return words.substr(1);
}

std::string bash_text(Commands commands) {
  std::string names, cases;
  for (const CompletedCommand& command : commands) {
    names += fmt::format("{} ", command.name);
    std::string values;
    for (const OptionRow& row : command.options) {
      if (row.value.empty()) continue;
      // A value without choices is a file or a folder, or nothing that can be completed.
      values += fmt::format("        --{}) words='{}' options='' files={} ;;\n", row.name,
                            row.choices, row.choices.empty() ? 1 : 0);
    }
    cases += fmt::format(
        "    {}) options='{}' words='{}' files={}\n"
        "      case $before in\n{}      esac ;;\n",
        command.name, option_words(command.options), join(command.words, " "),
        command.words.empty() ? 1 : 0, values);
  }
  return fmt::format(R"(# Completion of attnscale for bash.
_attnscale() {{
  local now=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words='' options='' files=0
  case $COMP_CWORD in
    1) words='{}--help --version' ;;
    *) _attnscale_after "${{COMP_WORDS[1]}}" ;;
  esac
  if [[ $now == -* && $options ]]; then words=$options; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$now")
  if ((files)) && [[ $now != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$now")
    compopt -o filenames 2> /dev/null
  fi
}}

# Sets words, options and files to what may follow the command, or the option before.
_attnscale_after() {{
  case $1 in
{}  esac
}}

complete -F _attnscale attnscale
)",
                     names, cases);
}

// What stands between quotes and brackets of zsh's _arguments.
std::string in_zsh(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'') escaped += "'\\'";
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_text(Commands commands) {
  std::string names, cases;
  for (const CompletedCommand& command : commands) {
    names += fmt::format("    '{}:{}'\n", command.name, in_zsh(command.summary));
    cases += fmt::format("    {}) _arguments", command.name);
    for (const OptionRow& row : command.options) {
      cases += fmt::format(" \\\n      '{}--{}[{}]", row.may_be_repeated ? "*" : "", row.name,
                           in_zsh(row.help));
      if (!row.value.empty()) {
        cases += fmt::format(":{}:{}", in_zsh(row.value),
                             row.choices.empty() ? "_files" : fmt::format("({})", row.choices));
      }
      cases += "'";
    }
    cases += command.words.empty() ? " \\\n      '*:file:_files' ;;\n"
                                   : fmt::format(" \\\n      '1:word:({})' '*:file:_files' ;;\n",
                                                 join(command.words, " "));
  }
  return fmt::format(R"(#compdef attnscale
# Completion of attnscale for zsh.
_attnscale() {{
  local -a commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
{}  esac
}}

if [ "$funcstack[1]" = _attnscale ]; then
  _attnscale "$@"
else
  compdef _attnscale attnscale
fi
)",
                     names, cases);
}

struct ShellRow {
  std::string_view name;
  std::string (*text)(Commands);
};

constexpr std::array kShells{ShellRow{"bash", bash_text}, ShellRow{"zsh", zsh_text}};

}  // namespace

std::vector<std::string_view> shell_names() {
  std::vector<std::string_view> names;
  for (const ShellRow& row : kShells) names.push_back(row.name);
  return names;
}

std::string completion_text(std::string_view shell, std::span<const CompletedCommand> commands) {
  return std::ranges::find(kShells, shell, &ShellRow::name)->text(commands);
}

}  // namespace attnscale
