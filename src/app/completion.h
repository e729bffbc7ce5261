// What a shell completes after `attnscale`: commands, options and their choices.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/arguments.h"

namespace attnscale {

/// What may follow a command.
struct CompletedCommand {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::span<const OptionRow> options;
  std::vector<std::string_view> words;  ///< its first word is one of these; empty for a file
};

/// The shells that `completion_text` knows.
std::vector<std::string_view> shell_names();

/// The completion function of one of `shell_names()`, to be sourced or installed.
std::string completion_text(std::string_view shell, std::span<const CompletedCommand> commands);

}  // namespace attnscale
