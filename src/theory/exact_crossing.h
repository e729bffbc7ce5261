// The size d at which an exact mean top weight reaches a level. Knows nothing of config, plan or
// rows of results.
#pragma once

#include <functional>
#include <optional>

#include "theory/exact_means_table.h"

namespace attnscale {

/// The smallest real d in [1, 1e12] at which the exact mean top weight crosses `level`, from either
/// side; empty if it never does. Under a soft-cap, d ends where the uncapped logits' spread is 64
/// times the cap, where the mean no longer moves; beside a sink or in a sigmoid without a cap,
/// where their spread is 128 (see is_cut_short). Relative error below 1e-6 where the mean is not
/// flat.
std::optional<double> exact_crossing(ExactMeansTable& table, const CrossingRequest& request,
                                     double level);

/// The spread of logits up to which means are looked at: nearly all logits are then at the soft-cap
/// or at minus it; beside a sink or in a sigmoid a spread costs the more the larger it is. Infinite
/// for a plain softmax.
double most_spread(const WeighingCase& weighing);

/// log d up to which exact_crossing looks.
double last_log_d(const CrossingRequest& request);

ExactRequest at_log_d(const CrossingRequest& request, double log_d);

/// The smallest x of the walk at which value(x) crosses `level`, from either side, to 1e-11; empty
/// if no two of the walk's steps lie on different sides of it.
std::optional<double> first_crossing(const std::function<double(double)>& value, double level,
                                     Walk& walk);

/// True where the mean may still move beyond the last d that exact_crossing looks at, below 1e12.
bool is_cut_short(const CrossingRequest& request);

/// ExactMeansTable::pending_work of every d that exact_crossing may look at.
double pending_work(const ExactMeansTable& table, const CrossingRequest& request);

}  // namespace attnscale
