// A config as a whole: from a file or text to a validated Config, with what the command line
// changes, and back; and its schema.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/overrides.h"
#include "experiment/experiment.h"

namespace attnscale {

/// A config as read: the resolved value, and what its user should know.
struct LoadedConfig {
  Config config;
  std::vector<std::string> warnings;  ///< such as softmax metrics at keys 1
};

/// The resolved config as JSON text, every default written out: parsing it gives an equal Config
/// whose own text is the same.
std::string to_json_text(const Config& config);

/// JSON Schema (draft-07) of the config, the text of configs/schema.json.
std::string config_schema();

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
