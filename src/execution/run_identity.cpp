#include "execution/run_identity.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "io/json_text.h"
#include "io/matrix_file.h"
#include "io/sha256.h"

namespace attnscale {
namespace {

using nlohmann::json;

// A file counts by the hash of its contents, and by which tensor of it is meant; where it is makes
// no difference.
void forget_places(json& given) {
  for (json& member : given) {
    if (!member.is_object() || !member.contains("sha256")) continue;
    const std::string tensor = tensor_name(member.value("file", "")).tensor;
    member.erase("file");
    if (!tensor.empty()) member["tensor"] = tensor;
  }
}

// The part of a config that decides the numbers.
json numbers_of(const std::string& config) {
  json parsed = parse_json(config);
  if (!parsed.is_object()) return parsed;
  parsed.erase("description");
  parsed.erase("$schema");
  if (!parsed.contains("experiments")) return parsed;
  for (json& experiment : parsed["experiments"]) {
    if (experiment.contains("given")) forget_places(experiment["given"]);
  }
  return parsed;
}

const json* find(const json& object, const std::string& key) {
  const auto member = object.find(key);
  return member == object.end() ? nullptr : &*member;
}

std::string text_of(const json* value) {
  return value != nullptr ? value->dump() : "nothing";
}

bool holds_objects(const json& value) {
  return value.is_array() &&
         std::any_of(value.begin(), value.end(), [](const json& item) { return item.is_object(); });
}

// Between two values, or a value and nullptr. Lists of plain values differ as a whole; lists of
// objects, such as experiments, in one of them.
std::optional<Difference> first_difference(const json* ours, const json* theirs,
                                           const std::string& path) {
  if (ours == theirs) return std::nullopt;
  const bool are_both = ours != nullptr && theirs != nullptr;
  if (are_both && *ours == *theirs) return std::nullopt;
  if (are_both && ours->is_object() && theirs->is_object()) {
    json keys = *ours;
    keys.update(*theirs);
    for (const auto& [key, unused] : keys.items()) {
      auto found =
          first_difference(find(*ours, key), find(*theirs, key), fmt::format("{}/{}", path, key));
      if (found) return found;
    }
  }
  if (are_both && holds_objects(*ours) && theirs->is_array() && ours->size() == theirs->size()) {
    for (std::size_t i = 0; i < ours->size(); ++i) {
      const std::string place = path + "/" + std::to_string(i);
      if (auto found = first_difference(&(*ours)[i], &(*theirs)[i], place)) return found;
    }
  }
  return Difference{path, text_of(ours), text_of(theirs)};
}

}  // namespace

std::string fingerprint(const RunIdentity& identity) {
  return sha256_hex(identity.version + "\n" + numbers_of(identity.config).dump());
}

bool is_comparable(const RunIdentity& identity) {
  try {
    return numbers_of(identity.config).is_object();
  } catch (const std::runtime_error&) {
    return false;
  }
}

RunIdentity with_seed(const RunIdentity& identity, std::uint64_t seed) {
  json config = parse_json(identity.config);
  config["seed"] = seed;
  return {identity.version, config.dump()};
}

std::optional<Difference> first_difference(const RunIdentity& ours, const RunIdentity& theirs) {
  if (ours.version != theirs.version) return Difference{"version", ours.version, theirs.version};
  const json our_config = numbers_of(ours.config);
  const json their_config = numbers_of(theirs.config);
  auto seed = first_difference(find(our_config, "seed"), find(their_config, "seed"), "/seed");
  return seed ? seed : first_difference(&our_config, &their_config, "");
}

}  // namespace attnscale
