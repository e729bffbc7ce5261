// JSON <-> Config. One field table drives the parser, its error messages, `attnscale schema` and
// configs/schema.json. nlohmann/json stays behind this header.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.h"

namespace attnscale {

/// One `--set PATH=VALUE` of the command line. PATH is a JSON Pointer, a top-level key,
/// EXPERIMENT.key, or a bare key, set in every drawn experiment; VALUE is JSON, else a string.
struct Override {
  std::string path;
  std::string value;
};

/// A config as read: the resolved value, and what is worth telling about it.
struct LoadedConfig {
  Config config;
  std::vector<std::string> warnings;  ///< such as softmax metrics at keys 1
};

/// Splits PATH=VALUE; throws UserError where there is no "=" or no path.
Override parse_override(std::string_view text);

/// Reads, overrides, validates and resolves a config file. Throws UserError with file, line and
/// column, JSON Pointer, what was found, what is allowed and the nearest valid name.
LoadedConfig load_config(const std::string& file, const std::vector<Override>& overrides = {});

/// The same from text; `source` names it in messages, and the relative paths in it begin at
/// `folder`, the working directory where it is empty.
LoadedConfig parse_config(std::string_view text, const std::string& source,
                          const std::vector<Override>& overrides = {},
                          const std::filesystem::path& folder = {});

/// The resolved config as JSON text, every default written out: parsing it gives an equal Config
/// whose own text is the same.
std::string to_json_text(const Config& config);

/// JSON Schema (draft-07) of the config, the text of configs/schema.json.
std::string config_schema();

}  // namespace attnscale
