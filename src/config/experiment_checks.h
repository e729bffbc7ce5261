// What must hold across several keys of an experiment, once each is right in itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.h"

namespace attnscale {

struct JsonValue;

/// True if no query has a second key, drawn or given.
bool has_one_key_only(const Experiment& experiment);

/// True if all entries of the experiment say how many keys are aligned.
bool counts_aligned_keys(const Experiment& experiment);

/// How many cells a drawn experiment has.
double cell_count(const Experiment& experiment);

/// Throws UserError at the value that asks for the file if it would have more than 10 million lines
/// or a gibibyte; a line has so many numbers besides the columns that name it.
void check_file_size(const JsonValue& value, std::string_view file, double lines, double numbers);

/// Sampler against laws and scalings, the size of samples and histograms; what regards `given` and
/// `stop` is checked by those. `value` is the experiment. Adds to `warnings` what is allowed but
/// probably not meant. Throws UserError at the value that can be mended.
void check_experiment(const JsonValue& value, const Experiment& experiment,
                      std::vector<std::string>& warnings);

}  // namespace attnscale
