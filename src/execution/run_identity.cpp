#include "execution/run_identity.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/sha256.h"

namespace attnscale {
namespace {

using nlohmann::json;

// A file counts by the hash of its contents; where it is makes no difference.
void forget_places(json& given) {
  for (json& member : given) {
    if (member.is_object() && member.contains("sha256")) member.erase("file");
  }
}

json parse_numbers(const std::string& config) {
  json parsed = json::parse(config);
  parsed.erase("description");
  parsed.erase("$schema");
  if (!parsed.contains("experiments")) return parsed;
  for (json& experiment : parsed["experiments"]) {
    if (experiment.contains("given")) forget_places(experiment["given"]);
  }
  return parsed;
}

std::string value_text(const json& object, const std::string& key) {
  return object.contains(key) ? object[key].dump() : "nothing";
}

bool holds_objects(const json& value) {
  return value.is_array() &&
         std::any_of(value.begin(), value.end(), [](const json& item) { return item.is_object(); });
}

std::optional<Difference> first_difference(const json& ours, const json& theirs,
                                           const std::string& path);

std::optional<Difference> difference_of_objects(const json& ours, const json& theirs,
                                                const std::string& path) {
  json keys = ours;
  keys.update(theirs);
  for (const auto& [key, unused] : keys.items()) {
    if (ours.contains(key) && theirs.contains(key)) {
      if (auto found = first_difference(ours[key], theirs[key], path + "/" + key)) return found;
    } else {
      return Difference{path + "/" + key, value_text(ours, key), value_text(theirs, key)};
    }
  }
  return std::nullopt;
}

// Lists of plain values differ as a whole; lists of objects, such as experiments, in one of them.
std::optional<Difference> first_difference(const json& ours, const json& theirs,
                                           const std::string& path) {
  if (ours == theirs) return std::nullopt;
  if (ours.is_object() && theirs.is_object()) return difference_of_objects(ours, theirs, path);
  if (holds_objects(ours) && theirs.is_array() && ours.size() == theirs.size()) {
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (auto found = first_difference(ours[i], theirs[i], path + "/" + std::to_string(i))) {
        return found;
      }
    }
  }
  return Difference{path, ours.dump(), theirs.dump()};
}

}  // namespace

std::string numbers_of(const std::string& config) {
  return parse_numbers(config).dump();
}

std::string fingerprint(const RunIdentity& identity) {
  return sha256_hex(identity.version + "\n" + numbers_of(identity.config));
}

std::optional<Difference> first_difference(const RunIdentity& ours, const RunIdentity& theirs) {
  if (ours.version != theirs.version) return Difference{"version", ours.version, theirs.version};
  const json our_config = parse_numbers(ours.config);
  const json their_config = parse_numbers(theirs.config);
  const std::string our_seed = value_text(our_config, "seed");
  const std::string their_seed = value_text(their_config, "seed");
  if (our_seed != their_seed) return Difference{"/seed", our_seed, their_seed};
  return first_difference(our_config, their_config, "");
}

}  // namespace attnscale
