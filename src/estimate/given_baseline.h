// Random queries and keys to compare given ones with: what the same scalings and metrics give if
// every entry is an independent standard normal.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/measure_block.h"
#include "experiment/result_row.h"

namespace attnscale {

/// What draws a baseline, and limits its keys and d.
const SamplerRow& baseline_sampler();

/// One row for each of `rows`, the lines of the given numbers of `experiment`, whose d must be
/// known.
///
/// Drawn queries see as many keys as given ones do: a layer for each number of keys that some query
/// sees, in the same proportions (stratified sampling; beyond 256 different numbers, the middles of
/// 256 equal shares of the queries). A function of the config and its seed alone, a few thousand
/// queries in all, fewer if they see very many keys. The standard error is that of the stratified
/// mean, by the delta method for statistics of logits. There is no ratio if the baseline is within
/// 4 standard errors of zero.
///
/// Empty if `stop` abandoned it.
std::optional<std::vector<BaselineRow>> measure_baseline(const Config& config,
                                                         const Experiment& experiment,
                                                         std::span<const ResultRow> rows,
                                                         const StopSignal& stop = nullptr);

}  // namespace attnscale
