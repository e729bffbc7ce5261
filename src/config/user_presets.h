// The key `presets` of a config: a user's own scalings by name.
#pragma once

#include <string>

#include "config/json_document.h"

namespace attnscale {

/// Puts a user's own presets, the key `presets` of a config, into the scalings that take them.
/// Throws UserError if one of them is no scaling.
void put_in_presets(JsonValue& document);

/// The keywords of JSON Schema for the names in a config without that key, and for an item of its
/// `scalings`.
std::string preset_names_shape();
std::string built_in_scaling_shape();

}  // namespace attnscale
