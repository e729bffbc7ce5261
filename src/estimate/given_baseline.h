// Random queries and keys to compare given ones with: what the same scalings and metrics give if
// every entry is an independent normal, standard or of each head's own mean and spread.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "experiment/given.h"

namespace attnscale {

/// What draws a baseline of standard normal entries, and limits its keys and d.
const SamplerRow& baseline_sampler();

/// One row for each of `rows`, the lines of the given numbers of `experiment`, whose d must be
/// known.
///
/// Standard ones: drawn queries see as many keys as given ones do: a layer for each number of keys
/// that some query sees, in the same proportions (stratified sampling; beyond 256 different
/// numbers, the middles of 256 equal shares of the queries). A function of the config and its seed
/// alone, a few thousand queries in all, fewer if they see very many keys. The standard error is
/// that of the stratified mean, by the delta method for statistics of logits.
///
/// Matched ones: matched_copies() times the whole of the given numbers, with the same sharing of
/// heads, masks and biases, but entries drawn with the mean and spread that those of the head have.
/// The estimate is the mean over copies, with its standard error, as queries of a copy share keys.
///
/// There is no ratio if a baseline is within 4 standard errors of zero. Empty if options.stop
/// abandoned it.
std::optional<std::vector<BaselineRow>> measure_baseline(const Config& config,
                                                         const Experiment& experiment,
                                                         std::span<const ResultRow> rows,
                                                         const GivenOptions& options = {});

/// How many copies of given numbers a matched baseline measures: 4 to 32, fewer of large ones.
std::int64_t matched_copies(const Given& given);

/// Rough processor seconds of the matched baseline of given numbers.
double expected_baseline_seconds(const Experiment& experiment);

/// Those of the normal one, of whose progress nobody is told.
double expected_normal_seconds(const Experiment& experiment);

}  // namespace attnscale
