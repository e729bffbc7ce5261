// Scores, or queries and keys, that are given: the same scalings and metrics, without chance. A
// group of queries at a time, so that memory does not grow with queries times keys.
#pragma once

#include <optional>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/group_runner.h"
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

struct GivenOptions {
  StopSignal stop = nullptr;  ///< asked between queries, from any worker
  GroupRunner run = run_one_by_one;
  std::function<void(std::int64_t queries)> progress = nullptr;  ///< called by one worker at a time
};

/// Measures experiment.given, which must be there; the same for any runner. Empty if options.stop
/// said to stop.
std::optional<GivenResults> measure_given(const Config& config, const Experiment& experiment,
                                          const GivenOptions& options = {});

/// Rough processor seconds that this takes.
double expected_given_seconds(const Experiment& experiment);

}  // namespace attnscale
