// The face of a config: from a file or text to a validated Config, with what the command line
// changes, and back.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_object.h"
#include "config/overrides.h"

namespace attnscale {

/// Reads, overrides, validates and resolves a config file, or standard input if `file` is "-". A
/// config without a name has that of its file without .json. Throws UserError with file, line and
/// column, JSON Pointer, what was found, what is allowed and the nearest valid name.
LoadedConfig load_config(const std::string& file, const std::vector<Override>& overrides = {});

/// The same from text; `source` names it in messages, and the relative paths in it begin at
/// `folder`, the working directory if that is empty.
LoadedConfig parse_config(std::string_view text, const std::string& source,
                          const std::vector<Override>& overrides = {},
                          const std::filesystem::path& folder = {});

}  // namespace attnscale
