// Scores, or queries and keys, that are given: the same scalings and metrics, without chance. One
// query at a time, so that memory does not grow with queries times keys.
#pragma once

#include <optional>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/measure_block.h"
#include "experiment/result_row.h"

namespace attnscale {

/// What a `given` experiment finds out.
struct GivenResults {
  /// Head by head, query by query, scaling by scaling, key by key; if Given::weights is set.
  std::vector<WeightRow> weights;
  std::vector<OutputRow> outputs;  ///< the same, if values are given
  std::vector<HeadRow> heads;      ///< if Experiment::by says so, head by head, scaling by scaling
  std::vector<QueryRow> queries;   ///< the same, query by query
  /// If metrics are named: scaling by scaling, of the queries of all heads together; without
  /// errors, as queries share keys.
  std::vector<ResultRow> rows;
};

/// Measures experiment.given, which must be there. `stop` is asked between queries; empty if it
/// said to stop.
std::optional<GivenResults> measure_given(const Config& config, const Experiment& experiment,
                                          const StopSignal& stop = nullptr);

}  // namespace attnscale
