// The rows of one experiment arranged for the eye: what runs down a table, and what stays fixed in
// it. Shared by the tables and the answers of the report; knows nothing of how they are set.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "experiment/result_row.h"

namespace attnscale {

/// What runs down the tables of a panel; kNothing where all of its rows belong to one cell.
enum class PanelAxis { kD, kKeys, kEntries, kNothing };

/// Rows of one experiment that differ in the axis, the scaling and the metric alone. The labels are
/// what the axis, the scalings and the metrics are called, each once, in order.
struct Panel {
  PanelAxis axis = PanelAxis::kNothing;
  std::vector<const ResultRow*> rows;
  std::vector<std::string> axis_labels, scaling_labels, metrics;
  std::map<std::array<std::string, 3>, const ResultRow*> row_of;  ///< by a label of each

  /// The row with these labels, or nullptr.
  const ResultRow* find(const std::string& axis_label, const std::string& scaling_label,
                        const std::string& metric) const;
};

/// Panels in the order of their first rows. The first of d, keys and entries that takes several
/// values in an experiment runs down; each combination of the others has a panel of its own. The
/// panels point into `rows`.
std::vector<Panel> panels_of(std::span<const ResultRow> rows);

/// What is fixed in a panel: "softmax: normal entries, 8 keys, 10,000 queries".
std::string caption_of(const Panel& panel);

/// The heading and the values of what runs down: "d" and "64".
std::string axis_name(PanelAxis axis);
std::string axis_label(const ResultRow& row, PanelAxis axis);

/// "soft_cap 30": the scaling with the number of a sweep.
std::string scaling_label(const ResultKey& key);

}  // namespace attnscale
