// What `attnscale new` writes: a config to start from.
#pragma once

#include <filesystem>
#include <string>

namespace attnscale {

/// Writes a small config of the name `file`, whose `$schema` leads to the schema of this program:
/// to the installed one, or to one that is written beside it where there is none. Returns what to
/// do next. Throws UserError if the file is there already.
std::string write_new_config(const std::filesystem::path& file);

}  // namespace attnscale
