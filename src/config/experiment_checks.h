// What must hold across the keys of an experiment. Throws UserError at the value that can be
// mended.
#pragma once

#include <string>
#include <vector>

#include "config/json_document.h"
#include "experiment/experiment.h"

namespace attnscale {

/// True if no query has a second key, drawn or given.
bool has_one_key_only(const Experiment& experiment);

/// True if all entries of the experiment say how many keys are aligned.
bool counts_aligned_keys(const Experiment& experiment);

/// What must hold across several keys of an experiment, `given` and `stop` apart, such as sampler
/// against laws and scalings; `value` is the experiment. Adds to `warnings` what is allowed but
/// probably not meant.
void check_experiment(const JsonValue& value, const Experiment& experiment,
                      std::vector<std::string>& warnings);

/// A sentence for each scaling whose factor is 0 at the largest size of its experiment: no logit
/// depends on its score.
std::vector<std::string> idle_scalings(const Config& config);

}  // namespace attnscale
