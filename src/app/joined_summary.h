// One table of the summaries of several runs, in which no two can be mistaken for one another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/manifest.h"
#include "experiment/result_row.h"
#include "io/table.h"

namespace attnscale {

/// A finished run: its folder as it was named, without a slash at its end.
struct RunSummary {
  std::string folder;
  std::optional<Manifest> manifest;
  std::vector<ResultRow> rows;
};

/// The columns of summary.csv behind `run_id`: an r, lest a reader take it for a number, and the
/// first 8 digits of the run's fingerprint. Before those of several runs `folder`, and a column for
/// each key of the config in which they differ, such as `softmax.keys`; run and seed have theirs
/// already.
Table joined_summary(const std::vector<RunSummary>& runs);

}  // namespace attnscale
