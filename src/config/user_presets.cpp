#include "config/user_presets.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "config/nearest_name.h"
#include "config/object.h"
#include "config/scaling_object.h"
#include "config/schema.h"
#include "experiment/presets.h"

namespace attnscale {
namespace {

// What the preset says, changed by what the scaling says.
JsonValue with_preset(const JsonMember& preset, const JsonValue& said) {
  JsonValue scaling = said;
  scaling.kind = JsonKind::kObject;
  std::erase_if(scaling.members, [](const JsonMember& one) { return one.name == "preset"; });
  if (scaling.find("name") == nullptr) {
    JsonValue name;
    name.kind = JsonKind::kString;
    name.text = preset.name;
    name.place = said.place;
    name.pointer = said.pointer;
    scaling.members.insert(scaling.members.begin(), {"name", said.place, std::move(name)});
  }
  for (const JsonMember& member : preset.value.members) {
    if (scaling.find(member.name) == nullptr) scaling.members.push_back(member);
  }
  return scaling;
}

void expect_preset(const JsonMember& preset) {
  if (find_preset(preset.name) != nullptr) {
    refuse(preset.place, preset.value.pointer,
           fmt::format("{} is a built-in preset; choose another name", quote(preset.name)));
  }
  const JsonValue* logit =
      preset.value.kind == JsonKind::kObject ? preset.value.find("logit") : nullptr;
  if (logit == nullptr) {
    refuse(preset.value,
           "a preset is an object with a formula, such as {\"logit\": \"s q.k / sqrt(d)\", "
           "\"s\": 0.43}");
  }
  for (const JsonMember& member : preset.value.members) {
    if (member.name != "name" && member.name != "preset") continue;
    refuse(member.place, member.value.pointer,
           fmt::format("a preset has no {}; its key is its name", quote(member.name)));
  }
  // It is right by itself, whether a scaling takes it or not.
  JsonValue alone;
  alone.kind = JsonKind::kArray;
  JsonValue name;
  name.kind = JsonKind::kString;
  name.text = preset.name;
  name.place = preset.place;
  name.pointer = preset.value.pointer;
  alone.items.push_back(with_preset(preset, name));
  std::vector<Scaling> scalings;
  read_into(alone, {}, scalings);
}

}  // namespace

void put_in_presets(JsonValue& document) {
  const JsonValue* presets = document.find("presets");
  JsonValue* experiments = document.find("experiments");
  if (presets == nullptr) return;
  if (presets->kind != JsonKind::kObject) {
    refuse_found(*presets, "an object, such as {\"ours\": {\"logit\": \"s q.k\", \"s\": 0.43}}");
  }
  std::ranges::for_each(presets->members, expect_preset);
  std::vector<std::string_view> names;
  for (const JsonMember& preset : presets->members) names.push_back(preset.name);
  if (experiments == nullptr) return;
  for (JsonValue& experiment : experiments->items) {
    JsonValue* scalings = experiment.find("scalings");
    if (scalings == nullptr) continue;
    const std::span<JsonValue> listed =
        scalings->kind == JsonKind::kArray ? std::span(scalings->items) : std::span(scalings, 1);
    for (JsonValue& scaling : listed) {
      const JsonValue* said = scaling.kind == JsonKind::kObject ? scaling.find("preset") : &scaling;
      if (said == nullptr || said->kind != JsonKind::kString) continue;
      const auto preset = std::ranges::find(presets->members, said->text, &JsonMember::name);
      if (preset != presets->members.end()) {
        scaling = with_preset(*preset, scaling);
      } else if (const auto meant = nearest_name(said->text, names);
                 meant && find_preset(said->text) == nullptr) {
        refuse(*said, fmt::format("unknown preset {}; did you mean {}?", quote(said->text),
                                  quote(*meant)));
      }
    }
  }
}

std::string preset_names_shape() {
  return described_names_shape(preset_table());
}

std::string built_in_scaling_shape() {
  std::vector<std::string_view> names;
  for (const PresetRow& row : preset_table()) {
    if (find_scaling(row.name)) names.push_back(row.name);
  }
  return fmt::format(
      R"("if": {{"type": "string"}}, "then": {}, "else": {{"properties": {{"preset": {}}}}})",
      schema_of(names_shape(names)), reference_to("preset"));
}

}  // namespace attnscale
