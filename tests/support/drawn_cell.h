// One drawn experiment and its cell, measured block after block: for the tests of the science.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/estimate.h"
#include "estimate/tally.h"
#include "experiment/measure_block.h"
#include "experiment/plan.h"

namespace attnscale {

inline std::vector<const MetricRow*> metric_rows(const std::vector<std::string_view>& names) {
  std::vector<const MetricRow*> rows;
  for (const std::string_view name : names) rows.push_back(find_metric(name));
  return rows;
}

inline std::vector<HistogramQuantity> histogram_quantities(
    const std::vector<std::string_view>& names) {
  std::vector<HistogramQuantity> quantities;
  for (const std::string_view name : names) {
    quantities.push_back(find_histogram_quantity(name).value());
  }
  return quantities;
}

/// Standard normal entries, scalings none, div_sqrt_d and div_d, metrics logit_sd and top_weight.
inline Experiment drawn_experiment(std::string_view sampler, std::int64_t d, std::int64_t keys,
                                   std::int64_t queries) {
  const Law normal{find_law("normal"), {}, 0, 1};
  Experiment experiment;
  experiment.name = "drawn";
  experiment.entries = {{"normal", {}, normal, normal}};
  experiment.d = {d};
  experiment.keys = {keys};
  experiment.queries = queries;
  experiment.sampler = find_sampler(sampler);
  for (const char* name : {"none", "div_sqrt_d", "div_d"}) {
    experiment.scalings.push_back(*find_scaling(name));
  }
  experiment.metrics = metric_rows({"logit_sd", "top_weight"});
  return experiment;
}

inline Config config_of(const Experiment& experiment, std::uint64_t seed = 1) {
  Config config;
  config.name = "test";
  config.seed = seed;
  config.experiments = {experiment};
  return config;
}

inline Plan plan_of(const Experiment& experiment, std::uint64_t seed = 1) {
  return make_plan(config_of(experiment, seed));
}

/// One block of a cell; nothing if `stop` abandoned it.
inline std::optional<BlockValues> measure_block(const Experiment& experiment, const Cell& cell,
                                                std::uint64_t seed, std::int64_t block,
                                                const StopSignal& stop = nullptr) {
  BlockMeasurer measurer(experiment, cell, seed);
  const BlockValues* const values = measurer.measure(block, stop);
  return values ? std::optional(*values) : std::nullopt;
}

inline CellTally measure_cell(const Plan& plan, const Cell& cell) {
  FoldTree tree;
  CellTally tally;
  for (std::int64_t block = 0; block < cell.blocks; ++block) {
    const auto values = measure_block(plan.experiment_of(cell), cell, plan.config.seed, block);
    tree.add({0, block}, moments_of(*values));
    tally.counts.add(*values);
  }
  tally.moments = tree.fold();
  return tally;
}

/// The lines of every cell of a config.
inline std::vector<ResultRow> run_config(const Config& config) {
  std::vector<ResultRow> rows;
  ExactValues exact(config.reference);
  const Plan plan = make_plan(config);
  for (const Cell& cell : plan.cells) {
    const auto of_cell = estimate_cell(plan, cell, measure_cell(plan, cell), exact);
    rows.insert(rows.end(), of_cell.begin(), of_cell.end());
  }
  return rows;
}

inline const ResultRow& row_of(const std::vector<ResultRow>& rows, std::string_view scaling,
                               std::string_view metric) {
  for (const ResultRow& row : rows) {
    if (row.key.scaling == scaling && row.metric == metric) return row;
  }
  throw std::out_of_range(std::string(scaling) + " " + std::string(metric));
}

}  // namespace attnscale
