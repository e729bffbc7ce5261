// The one table of everything a config may say. Parser, error messages, schema and help all read
// it: a new key is one row here and a place to land in.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "config/config_draft.h"
#include "config/field.h"
#include "config/json_document.h"

namespace attnscale {

/// The object a key belongs to.
enum class FieldPlace { kInConfig, kInExperiment };

struct ConfigField {
  FieldPlace place;
  std::string_view name;
  FieldType type;
  FieldUse use;
  std::string_view fallback;  ///< the default, as JSON; empty where there is none
  /// Checks the value and puts it into the draft. Throws UserError.
  void (*land)(const JsonValue& value, const ConfigField& field, ConfigDraft& draft);
  std::string_view help;  ///< one line
  FieldBounds bounds = {};
  FieldChoices choices = {};

  operator Field() const { return {name, type, use, fallback, help, bounds, choices}; }
};

/// The keys of one object, in the order they are read, checked and documented.
std::span<const ConfigField> fields_of(FieldPlace place);

/// The field of that name, or nullptr.
const ConfigField* find_field(FieldPlace place, std::string_view name);

std::vector<std::string_view> field_names(FieldPlace place);

}  // namespace attnscale
