// The whole config as an object: read, checked, written back, and its schema.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/json_document.h"
#include "experiment/experiment.h"

namespace attnscale {

/// A config as read: the resolved value, and what its user should know.
struct LoadedConfig {
  Config config;
  std::vector<std::string> warnings;  ///< such as softmax metrics at keys 1
};

/// Reads and checks the whole config. Throws UserError.
LoadedConfig read_config(const JsonValue& document);

std::vector<std::string_view> config_keys();

/// The resolved config as JSON text, every default written out: parsing it gives an equal Config
/// whose own text is the same.
std::string to_json_text(const Config& config);

/// JSON Schema (draft-07) of the config, the text of configs/schema.json.
std::string config_schema();

}  // namespace attnscale
