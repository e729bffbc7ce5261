// The rows of results as the tables of a run's files, and back: those files that depend on its
// config and seed alone. One list of columns per file serves both ways, so a column is named in one
// place. Knows nothing of how a number was found.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "experiment/result_row.h"
#include "io/atomic_file.h"
#include "io/table.h"

namespace attnscale {

/// The table of summary.csv, histogram.csv, crossings.csv, contrasts.csv, weights.csv, outputs.csv
/// or baselines.csv, whichever has such rows: one line per row, in the order given.
template <typename Row>
Table table_of(std::span<const Row> rows);

/// wide.csv: one line per cell and scaling, in the order in which they first appear. Each metric
/// has the columns METRIC, METRIC_se, METRIC_reference, in the order in which metrics first appear
/// in any experiment; a metric that has a median in any of the rows is one per query, and has
/// METRIC_median as well. A metric an experiment did not measure is empty in its lines.
Table wide_table(std::span<const ResultRow> rows);

/// The names of all files that result_files may give.
std::vector<std::string> result_file_names();

/// The files to write: some always, the others only if they have lines.
std::vector<NamedBytes> result_files(const Results& results);

/// The rows of a finished run's summary.csv, exactly as they were written. Throws std::system_error
/// if the file cannot be read, and std::runtime_error "FILE:LINE: what is wrong" if it is
/// damaged: other columns, an empty field that must have a value, a number that is not one.
std::vector<ResultRow> read_summary(const std::filesystem::path& path);

/// The rows in `folder` that the report shows. summary.csv must be there; the other files are read
/// if they exist. Throws as read_summary does.
Results read_results(const std::filesystem::path& folder);

}  // namespace attnscale
