// The face of a config: from a file or text to a validated Config, with what the command line
// changes, and back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.h"

namespace attnscale {

struct JsonValue;

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
/// Throws UserError that names the override for any other path.
void apply_override(JsonValue& document, const Override& override);

/// A config as read: the resolved value, and what its user should know.
struct LoadedConfig {
  Config config;
  std::vector<std::string> warnings;  ///< such as softmax metrics at keys 1
};

/// Reads, overrides, validates and resolves a config file, or standard input if `file` is "-". A
/// config without a name has that of its file without .json. Throws UserError with file, line and
/// column, JSON Pointer, what was found, what is allowed and the nearest valid name.
LoadedConfig load_config(const std::string& file, const std::vector<Override>& overrides = {});

/// The same from text; `source` names it in messages, and the relative paths in it begin at
/// `folder`, the working directory if that is empty.
LoadedConfig parse_config(std::string_view text, const std::string& source,
                          const std::vector<Override>& overrides = {},
                          const std::filesystem::path& folder = {});

inline constexpr std::int64_t kLargestSeed =
    (std::int64_t{1} << 53) - 1;  // exact in every JSON reader

/// True for what may be the name of a run: at most 100 letters, digits, dots, underscores and
/// dashes, the first a letter or digit.
bool is_name(std::string_view text);

/// Reads and checks the whole config. Throws UserError.
LoadedConfig read_config(const JsonValue& document);

std::vector<std::string_view> config_keys();

/// The resolved config as JSON text, every default written out: parsing it gives an equal Config
/// whose own text is the same.
std::string to_json_text(const Config& config);

/// JSON Schema (draft-07) of the config, the text of configs/schema.json.
std::string config_schema();

}  // namespace attnscale
