// The rows of results as tables, and back. One list of columns per kind of row serves both ways: it
// says what a column is called and whether it may be empty. Knows nothing of how a number was
// found.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "experiment/result_row.h"
#include "io/table.h"

namespace attnscale {

/// The table of summary.csv, histogram.csv, crossings.csv, contrasts.csv, weights.csv, outputs.csv,
/// heads.csv, queries.csv, baselines.csv or coverage.csv, or of a comparison, whichever has such
/// rows: one line per row, in the order given. Numbers of weights.csv and outputs.csv that are not
/// finite are empty cells, and their line's `status` names them, as "logit=inf weight=nan", so that
/// they too read back as they were.
template <typename Row>
Table table_of(std::span<const Row> rows);

/// wide.csv: one line per cell and scaling, in the order in which they first appear. Each metric
/// has the columns METRIC, METRIC_se, METRIC_reference, in the order in which metrics first appear
/// in any experiment; a metric that has a median in any of the rows is one per query, and has
/// METRIC_median as well. A metric an experiment did not measure is empty in its lines.
Table wide_table(std::span<const ResultRow> rows);

/// samples.csv: one line per row; the metrics that were measured, in the order they first appear.
Table samples_table(std::span<const SampleRow> rows);

/// The rows of such a file of a finished run, exactly as they were written. Throws
/// std::system_error if the file cannot be read, and std::runtime_error "FILE:LINE: what is wrong"
/// if it is damaged: other columns, an empty field that must have a value, a number that is not
/// one.
template <typename Row>
std::vector<Row> read_rows(const std::filesystem::path& path);

}  // namespace attnscale
