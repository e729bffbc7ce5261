// What the command line changes in a config.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/json_document.h"

namespace attnscale {

/// One `--set PATH=VALUE` of the command line. PATH is a JSON Pointer, a top-level key,
/// EXPERIMENT.key, or a bare key, set in every drawn experiment; VALUE is JSON, else a string.
struct Override {
  std::string path;
  std::string value;
  std::string option = {};  ///< what was typed, as messages put it; "--set PATH=VALUE" if empty
};

/// Splits PATH=VALUE; throws UserError if there is no "=" or no path.
Override parse_override(std::string_view text);

/// Puts the override's value where its path leads. In this order, a path is
///   1. a JSON Pointer if it begins with "/"; it may create a missing key, not a missing parent;
///   2. a top-level key (so `name` is the run's); `sampler` is also set in each experiment that
///   names one;
///   3. EXPERIMENT.key, split at the last dot, if such an experiment exists;
///   4. a key of an experiment, set in every drawn experiment.
/// Throws UserError that names the override for any other path. `top_keys` are those that a config
/// may have.
void apply_override(JsonValue& document, const Override& override,
                    const std::vector<std::string_view>& top_keys);

}  // namespace attnscale
