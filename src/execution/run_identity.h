// What makes two runs the same: equal identities give equal numbers, whatever threads, folder or
// machine they ran with. Reads configs as JSON, so that no key of a config is overlooked.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "experiment/experiment.h"

namespace attnscale {

/// A config from its JSON text, and back; how either is done does not matter here.
using ConfigReader = std::function<Config(const std::string& text)>;
using ConfigWriter = std::function<std::string(const Config& config)>;

/// A run's version of the program, and its resolved config as JSON text (to_json_text).
struct RunIdentity {
  std::string version;
  std::string config;

  friend bool operator==(const RunIdentity&, const RunIdentity&) = default;
};

/// The first setting in which two runs differ.
struct Difference {
  std::string key;   ///< "version", or the JSON Pointer of a key of the config
  std::string ours;  ///< its value as JSON text; "nothing" if absent
  std::string theirs;
};

/// SHA-256, in hexadecimal, of the version and of the part of the config that decides the numbers:
/// all but its description, its schema and the places of given files, whose contents count by their
/// hash. Equal exactly where first_difference finds nothing.
std::string fingerprint(const RunIdentity& identity);

/// True if the config is a JSON object, as the other functions ask.
bool is_comparable(const RunIdentity& identity);

/// The same run with another seed. The config must be a JSON object.
RunIdentity with_seed(const RunIdentity& identity, std::uint64_t seed);

/// Empty if the two give the same numbers. The seed is compared before all other keys. Both configs
/// must be JSON.
std::optional<Difference> first_difference(const RunIdentity& ours, const RunIdentity& theirs);

}  // namespace attnscale
