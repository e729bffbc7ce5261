// The lines of one experiment arranged for the eye: what runs down a table, what runs across, and
// what stays fixed. Shared by the tables and the answers of the report; knows nothing of how they
// are printed.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "experiment/result_row.h"

namespace attnscale {

/// What runs down the tables of a grid; kNothing if all of its rows belong to one cell.
enum class GridAxis { kD, kKeys, kEntries, kNothing };

/// Rows of one experiment that differ in the axis, the scaling and the metric alone. The labels are
/// what the axis, the scalings and the metrics are called, each once, in order.
struct ResultGrid {
  GridAxis axis = GridAxis::kNothing;
  std::vector<const ResultRow*> rows;
  std::vector<std::string> axis_labels, scaling_labels, metrics;
  /// By the indices of their label, scaling and metric.
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, const ResultRow*> places;

  /// The row of the label, scaling and metric with these indices, or nullptr.
  const ResultRow* at(std::size_t label, std::size_t scaling, std::size_t metric) const;
};

/// Grids in the order of their first rows. The first of d, keys and entries that takes several
/// values in an experiment runs down; each combination of the others has a grid of its own. The
/// grids point into `rows`.
std::vector<ResultGrid> grids_of(std::span<const ResultRow> rows);

/// What is fixed in a grid: "softmax: normal entries, 8 keys, 10,000 queries".
std::string caption_of(const ResultGrid& grid);

/// The heading of what runs down: "d".
std::string axis_name(GridAxis axis);

}  // namespace attnscale
