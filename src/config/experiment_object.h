// One experiment of a config: its keys, the objects inside it, and what must hold between them.
// Every function that reads or checks throws UserError at the value that can be mended.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/field.h"
#include "config/file_lines.h"
#include "experiment/experiment.h"

namespace attnscale {

/// The name of the experiment at `index`, given or by default.
std::string experiment_name(const JsonValue& experiment, std::size_t index);

/// Reads and checks the experiment at `index`, drawn by `sampler` unless it says otherwise. Adds to
/// `lines` those of its files, and to `warnings` what is allowed but probably not meant.
Experiment read_experiment(const JsonValue& value, std::size_t index, const SamplerRow& sampler,
                           FileLines& lines, std::vector<std::string>& warnings);

std::vector<std::string_view> experiment_keys();

/// The object in lines that begin at `indent`.
std::string experiment_text(const Experiment& experiment, const std::string& indent);

/// The keywords of JSON Schema for the object.
std::string experiment_schema();

}  // namespace attnscale
