#include "config/config_reader.h"

#include <algorithm>

#include "config/config_checks.h"
#include "config/join.h"
#include "config/nearest_name.h"
#include "config/values.h"

namespace attnscale {
namespace {

void refuse_unknown_keys(const JsonValue& object, const std::vector<std::string_view>& keys) {
  for (const JsonMember& member : object.members) {
    if (std::find(keys.begin(), keys.end(), member.name) == keys.end()) {
      refuse(member.place, member.value.pointer, unknown_name("key", member.name, keys));
    }
  }
}

void land_fields(const JsonValue& object, FieldPlace place, ConfigDraft& draft) {
  const bool is_given = place == FieldPlace::kInExperiment && object.find("given") != nullptr;
  for (const ConfigField& field : fields_of(place)) {
    const JsonValue* value = object.find(field.name);
    if (is_given && is_refused_beside_given(field)) {
      if (value != nullptr) {
        refuse(*value, quote(field.name) +
                           " does not go with \"given\", whose numbers are not drawn; "
                           "remove one of them");
      }
    } else if (value != nullptr) {
      field.land(*value, field, draft);
    } else if (field.use == FieldUse::kRequired || field.use == FieldUse::kRequiredIfDrawn) {
      refuse(object, "the key " + quote(field.name) + " is missing: " + std::string(field.help));
    } else if (!field.fallback.empty() && !(is_given && field.use == FieldUse::kDefaultIfDrawn)) {
      // A default is landed as if it had been written where its object stands.
      JsonValue fallback = read_json(field.fallback, "default");
      set_places(fallback, object.place);
      set_pointers(fallback, child_pointer(object.pointer, field.name));
      field.land(fallback, field, draft);
    }
  }
}

}  // namespace

void read_object(const JsonValue& value, FieldPlace place, ConfigDraft& draft,
                 const std::vector<std::string_view>& more_keys) {
  std::vector<std::string_view> keys = field_names(place);
  keys.insert(keys.end(), more_keys.begin(), more_keys.end());
  if (value.kind != JsonKind::kObject) {
    refuse(value,
           "found " + describe(value) + "; expected an object with keys among " + join(keys));
  }
  refuse_unknown_keys(value, keys);
  land_fields(value, place, draft);
}

std::string experiment_name(const JsonValue& experiment, std::size_t index) {
  const JsonValue* name = experiment.find("name");
  return name != nullptr ? name->text : "experiment_" + std::to_string(index + 1);
}

void land_experiments(const JsonValue& value, const ConfigField&, ConfigDraft& draft) {
  expect_list(value, "experiments, such as [{\"d\": [4, 64], \"keys\": 8}]");
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const JsonValue& item = value.items[i];
    draft.experiment = {};
    draft.experiment.name = experiment_name(item, i);
    if (item.find("given") == nullptr) draft.experiment.sampler = draft.sampler;
    read_object(item, FieldPlace::kInExperiment, draft);
    check_experiment(item, draft.experiment, draft.warnings);
    for (const Experiment& other : draft.config.experiments) {
      if (other.name == draft.experiment.name) {
        const JsonValue* name = item.find("name");
        refuse(name != nullptr ? *name : item,
               "a second experiment with the name " + quote(other.name) + "; names must differ");
      }
    }
    draft.config.experiments.push_back(std::move(draft.experiment));
  }
}

ConfigDraft read_config(const JsonValue& document, const std::filesystem::path& folder) {
  ConfigDraft draft;
  draft.folder = folder;
  draft.sampler = &sampler_table().front();
  read_object(document, FieldPlace::kInConfig, draft);
  check_config(document, draft.config);
  return draft;
}

}  // namespace attnscale
