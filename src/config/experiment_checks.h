// What must hold across the keys of an experiment, and how long its files may be.
// Throws UserError at the value that can be mended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/json_document.h"
#include "experiment/experiment.h"

namespace attnscale {

/// True if no query has a second key, drawn or given.
bool has_one_key_only(const Experiment& experiment);

/// True if all entries of the experiment say how many keys are aligned.
bool counts_aligned_keys(const Experiment& experiment);

/// How many cells a drawn experiment has.
double cell_count(const Experiment& experiment);

/// Lines of the files whose length is a product of lists. No other file of drawn numbers has more:
/// wide.csv has a line where summary.csv has one per metric, and contrasts.csv one per line of
/// summary.csv at most.
struct FileLines {
  double summary = 0, crossings = 0, samples = 0, histogram = 0;
};

/// Adds those of the experiment. Throws UserError at `value` where a file has too many.
void add_lines(const JsonValue& value, const Experiment& experiment, FileLines& lines);

/// Refuses a file of more than 10 million lines or a gibibyte; a line has so many numbers besides
/// the columns that name it.
void check_file_size(const JsonValue& value, std::string_view file, double lines, double numbers);

/// What must hold across several keys of an experiment, `given` and `stop` apart, such as sampler
/// against laws and scalings; `value` is the experiment. Adds to `warnings` what is allowed but
/// probably not meant.
void check_experiment(const JsonValue& value, const Experiment& experiment,
                      std::vector<std::string>& warnings);

/// A sentence for each scaling whose factor is 0 at the largest size of its experiment: no logit
/// depends on its score.
std::vector<std::string> idle_scalings(const Config& config);

}  // namespace attnscale
