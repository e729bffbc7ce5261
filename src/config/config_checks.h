// What must hold across several keys of a config, once each of them is right by itself. Every check
// throws UserError at the value that can be mended.
#pragma once

#include <string>
#include <vector>

#include "config/json_document.h"
#include "experiment/experiment.h"

namespace attnscale {

/// True where no query has a second key, drawn or given.
bool has_one_key_only(const Experiment& experiment);

/// True where all entries of the experiment say how many keys are aligned.
bool counts_aligned_keys(const Experiment& experiment);

/// Sampler against laws, scalings against given scores, the size of samples and histograms. Adds
/// what is allowed but worth telling to `warnings`.
void check_experiment(const JsonValue& value, const Experiment& experiment,
                      std::vector<std::string>& warnings);

/// The size of the whole sweep.
void check_config(const JsonValue& value, const Config& config);

}  // namespace attnscale
