// Exact values without a run: what `attnscale exact` is asked and answers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/config.h"
#include "report/screen_table.h"

namespace attnscale {

struct ExactCommand {
  std::vector<Override> asked;  ///< d, keys, scalings and metrics, as far as they are given
  std::vector<double> levels;   ///< to be reached; empty for a table of values
  TableFormat format = TableFormat::kTable;
};

/// The exact values of the metrics, or the d, keys or factor at which they reach the levels:
/// whichever of d and keys is not given, or the factor of q.k. `width` is that of the screen in
/// characters. Throws UserError.
std::string exact_text(const ExactCommand& command, std::size_t width);

}  // namespace attnscale
