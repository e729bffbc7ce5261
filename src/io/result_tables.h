// Result rows as the tables of a run's files, and back. One table of columns per file serves both
// ways, so a column is named in one place. Knows nothing of how a number was found.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "experiment/result_row.h"
#include "io/table.h"

namespace attnscale {

/// summary.csv: one line per row, in the order given.
Table summary_table(std::span<const ResultRow> rows);

/// wide.csv: one line per cell and scaling, in the order in which they first appear. Each metric
/// has the columns METRIC, METRIC_se, METRIC_reference, in the order in which metrics first appear
/// in any experiment; a metric that has a median in any of the rows is one per query, and has
/// METRIC_median as well. A metric an experiment did not measure is empty in its lines.
Table wide_table(std::span<const ResultRow> rows);

/// samples.csv: one line per row; the metrics that were measured, in the order they first appear.
Table samples_table(std::span<const SampleRow> rows);

Table histogram_table(std::span<const HistogramRow> rows);
Table crossings_table(std::span<const CrossingRow> rows);
Table contrasts_table(std::span<const ContrastRow> rows);
Table weights_table(std::span<const WeightRow> rows);
Table outputs_table(std::span<const OutputRow> rows);
Table baselines_table(std::span<const BaselineRow> rows);

/// The rows of a finished run's file, exactly as they were written. Throws std::system_error where
/// the file cannot be read, and std::runtime_error "FILE:LINE: what is wrong" where it is damaged:
/// other columns, an empty field that must have a value, a number that is not one.
std::vector<ResultRow> read_summary(const std::filesystem::path& path);
std::vector<CrossingRow> read_crossings(const std::filesystem::path& path);
std::vector<WeightRow> read_weights(const std::filesystem::path& path);
std::vector<OutputRow> read_outputs(const std::filesystem::path& path);
std::vector<BaselineRow> read_baselines(const std::filesystem::path& path);

/// All rows in `folder`. summary.csv must be there; of the others those that a run of its kind has.
Results read_results(const std::filesystem::path& folder);

}  // namespace attnscale
