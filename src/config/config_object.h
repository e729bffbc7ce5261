// The top object of a config.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.h"

namespace attnscale {

struct JsonValue;

inline constexpr std::int64_t kLargestSeed =
    (std::int64_t{1} << 53) - 1;  // exact in every JSON reader

/// Reads and checks the whole config. Adds to `warnings` what is allowed but probably not meant.
/// Throws UserError.
Config read_config(const JsonValue& document, std::vector<std::string>& warnings);

std::vector<std::string_view> config_keys();

/// The resolved config as JSON text, every default written out: parsing it gives an equal Config
/// whose own text is the same.
std::string to_json_text(const Config& config);

/// JSON Schema (draft-07) of the config, the text of configs/schema.json.
std::string config_schema();

}  // namespace attnscale
