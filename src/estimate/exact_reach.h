// Solves for what is missing: the d, the number of keys or the factor of q.k at which the exact
// mean of a metric reaches a level. Draws nothing.
#pragma once

#include "estimate/reference.h"
#include "experiment/experiment.h"

namespace attnscale {

/// What a level is reached by.
enum class ReachedBy { kD, kKeys, kFactor };

enum class ReachStatus {
  kFrom,      ///< the metric has the level there, and more beyond it
  kUpTo,      ///< the metric has the level there, and less beyond it
  kAlways,    ///< wherever it was looked for, the metric has more than the level
  kNever,     ///< nowhere, as far as it was looked for
  kTooFar,    ///< not up to the most keys of a config, or not where the integrals reach
  kNotKnown,  ///< theory does not know the metric of these draws under this scaling
};

std::string_view name_of(ReachStatus status);

struct Reach {
  ReachStatus status = ReachStatus::kNotKnown;
  std::optional<double> at = {};  ///< the real d or factor, or the whole number of keys
};

/// Answers questions that may share work.
class ExactReach {
 public:
  explicit ExactReach(double work = kExactWork)
      : table_(work), pairs_(work, ExactMeansTable::kOfPairs) {}

  /// Where the exact mean of the metric crosses `level` first, starting from d = 1, from 2 keys (1
  /// in a sigmoid), or from no factor at all. kD ignores the draw's d and kKeys its keys; kFactor
  /// takes the place of the scaling's own factor of q.k, and is above 0. Relative error below 1e-6
  /// where the mean is not flat; of keys, the last number on the side that has at least the level.
  Reach of(const Draw& draw, const Scaling& scaling, const MetricRow& metric,
           double saturated_above, double level, ReachedBy what);

 private:
  /// The exact mean of the metric; empty if it is not known.
  std::optional<double> mean(const MetricRow& metric, const ExactRequest& request,
                             double saturated_above);

  ExactMeansTable table_;
  ExactMeansTable pairs_;
};

}  // namespace attnscale
