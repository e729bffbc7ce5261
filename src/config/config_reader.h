// From a JSON document to a Config, by the field table. The land functions are what its rows point
// to; the checks across several keys are in config_checks.
#pragma once

#include <filesystem>

#include "config/config_draft.h"
#include "config/config_fields.h"
#include "config/json_document.h"

namespace attnscale {

/// Reads one object of a config into the draft: refuses unknown and missing keys, lands those that
/// are there and the defaults of those that are not, in the table's order. `more_keys` are allowed
/// too and left to the caller.
void read_object(const JsonValue& value, FieldPlace place, ConfigDraft& draft,
                 const std::vector<std::string_view>& more_keys = {});

/// The name of the experiment at `index`, said or by default.
std::string experiment_name(const JsonValue& experiment, std::size_t index);

/// Reads and checks the whole config; its relative paths begin at `folder`.
ConfigDraft read_config(const JsonValue& document, const std::filesystem::path& folder);

using LandFunction = void(const JsonValue& value, const ConfigField& field, ConfigDraft& draft);
LandFunction land_experiments;
LandFunction land_given;
LandFunction land_entries;
LandFunction land_scalings;
LandFunction land_metrics;
LandFunction land_histogram;
LandFunction land_stop;

}  // namespace attnscale
