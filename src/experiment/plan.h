// From axes to a flat list of cells, each cut into blocks: everything a run will do, known before
// anything runs.
#pragma once

#include <cstdint>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/result_row.h"

namespace attnscale {

/// One point of a sweep: entries x d x keys of one experiment.
struct Cell {
  std::size_t experiment = 0;  ///< index into Config::experiments
  Draw draw;
  std::int64_t queries = 0;
  std::uint64_t identity = 0;      ///< hash of what is drawn: law, d, keys, sampler
  std::int64_t block_queries = 0;  ///< queries of every block but perhaps the last
  std::int64_t blocks = 0;

  /// Queries of block `block`.
  std::int64_t queries_in(std::int64_t block) const;
};

struct Plan {
  Config config;
  std::vector<Cell> cells;  ///< of drawn experiments, in config order: entries, then d, then keys

  const Experiment& experiment_of(const Cell& cell) const {
    return config.experiments[cell.experiment];
  }
};

Plan make_plan(const Config& config);

/// Rough processor seconds that each cell takes: drawing, and scaling, weighing and measuring under
/// every scaling.
std::vector<double> expected_seconds(const Plan& plan);

/// The first columns of a line of results about a cell and scaling.
ResultKey key_of(const Plan& plan, const Cell& cell, const Scaling& scaling);

/// Queries in a block: 1024, halved until queries x keys x work is at most 2^26, but at least 8;
/// work per score is d if every entry is drawn, else 1.
std::int64_t block_queries(std::int64_t keys, std::int64_t work_per_score);

}  // namespace attnscale
