#include "config/object.h"

#include <fmt/core.h>

#include <algorithm>

#include "config/nearest_name.h"

namespace attnscale {

void expect_object(const JsonValue& value, const std::vector<std::string_view>& keys) {
  if (value.kind != JsonKind::kObject) {
    refuse_found(value, "an object with keys among " + join(keys));
  }
  for (const JsonMember& member : value.members) {
    if (std::ranges::find(keys, member.name) == keys.end()) {
      refuse(member.place, member.value.pointer, unknown_name("key", member.name, keys));
    }
  }
}

const JsonValue* find_value(const JsonValue& object, const Field& field, JsonValue& storage) {
  const JsonValue* value = object.find(field.name);
  const bool is_given = object.find("given") != nullptr;
  if (is_given && is_refused_beside_given(field)) {
    if (value == nullptr) return nullptr;
    refuse(*value,
           fmt::format("{} cannot be used with \"given\", whose numbers are not drawn; remove "
                       "one of them",
                       quote(field.name)));
  }
  if (!is_given && value != nullptr && field.use == FieldUse::kIfGiven) {
    refuse(*value,
           fmt::format("{} is for numbers that are \"given\", and these are drawn; remove it",
                       quote(field.name)));
  }
  if (value != nullptr) return value;
  if (field.use == FieldUse::kRequired || field.use == FieldUse::kRequiredIfDrawn) {
    refuse(object, fmt::format("the key {} is missing: {}", quote(field.name), field.help));
  }
  const bool has_default =
      !field.fallback.empty() && !(is_given && field.use == FieldUse::kDefaultIfDrawn);
  if (!has_default) return nullptr;
  storage = read_json(field.fallback, {"default"});
  move_to(storage, object.place, child_pointer(object.pointer, field.name));
  return &storage;
}

const JsonValue& said_or_whole(const JsonValue& object, std::string_view key) {
  const JsonValue* said = object.find(key);
  return said != nullptr ? *said : object;
}

}  // namespace attnscale
