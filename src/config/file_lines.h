// How long the files of a run may be: what is a product of lists is counted before anything looks
// at each of its lines. Throws UserError at the value that can be mended.
#pragma once

#include <string_view>

#include "config/json_document.h"
#include "experiment/experiment.h"

namespace attnscale {

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

}  // namespace attnscale
