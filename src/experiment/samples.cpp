#include "experiment/samples.h"

#include <algorithm>
#include <cmath>

namespace attnscale {

std::optional<std::vector<SampleRow>> sample_cell(const Plan& plan, const Cell& cell,
                                                  const StopSignal& stop) {
  Experiment experiment = plan.experiment_of(cell);
  experiment.histogram.clear();
  // A shorter cell is the beginning of a longer one: no more is measured than is shown.
  const std::int64_t wanted = std::min(experiment.samples, cell.queries);
  Cell beginning = cell;
  beginning.queries = wanted;
  BlockMeasurer measurer(experiment, beginning, plan.config.seed);
  const auto metrics = per_query_metrics(experiment);
  std::vector<std::vector<SampleRow>> rows(experiment.scalings.size());
  for (std::int64_t block = 0; block * cell.block_queries < wanted; ++block) {
    const BlockValues* const values = measurer.measure(block, stop);
    if (values == nullptr) return std::nullopt;
    const std::int64_t first = block * cell.block_queries;
    for (std::size_t s = 0; s < rows.size(); ++s) {
      const ResultKey key = key_of(plan, cell, experiment.scalings[s]);
      for (std::int64_t i = 0; i < values->queries; ++i) {
        SampleRow row{key, first + i, {}};
        for (std::size_t m = 0; m < metrics.size(); ++m) {
          const double value = values->metrics[s][m][static_cast<std::size_t>(i)];
          row.values.emplace_back(metrics[m]->name,
                                  std::isfinite(value) ? std::optional(value) : std::nullopt);
        }
        rows[s].push_back(std::move(row));
      }
    }
  }
  std::vector<SampleRow> all;
  for (auto& of_scaling : rows) all.insert(all.end(), of_scaling.begin(), of_scaling.end());
  return all;
}

}  // namespace attnscale
