// Scores, or queries and keys, written in the config: the same scalings and metrics, without
// chance.
#pragma once

#include <vector>

#include "experiment/experiment.h"
#include "experiment/result_row.h"

namespace attnscale {

/// What a `given` experiment finds out.
struct GivenResults {
  std::vector<WeightRow> weights;  ///< query by query, scaling by scaling, key by key
  std::vector<OutputRow> outputs;  ///< where values are given
  std::vector<ResultRow> rows;  ///< where metrics are named; without errors, as queries share keys
};

/// Measures experiment.given, which must be there.
GivenResults measure_given(const Config& config, const Experiment& experiment);

}  // namespace attnscale
