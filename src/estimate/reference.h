// Which exact values a run can compare its estimates with: from a cell, a scaling and a metric to a
// request of theory/exact_means_table, within a fixed amount of work. Knows nothing of draws.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "experiment/plan.h"
#include "theory/exact_means_table.h"

namespace attnscale {

/// Multiplications that the exact values of one run may cost, and once more those of pairs (of
/// effective_keys and weight_margin): about two seconds each. The lesson's cells
/// take a four-hundredth of it.
inline constexpr double kExactWork = 3e9;

/// What exact means of such a cell are asked of; empty if they are not known.
std::optional<ExactRequest> exact_request(const Draw& draw, const Scaling& scaling);

/// The same as a function of d; empty under a norm too.
std::optional<CrossingRequest> exact_request_along_d(const Draw& draw, const Scaling& scaling);

/// The exact values of one run. What one cell's value cost is shared by cells with as many keys.
/// Means are good to kExactError or left out. What would exceed the work allowed is left out too
/// and counted for warnings(); which values those are depends on the order of the questions and on
/// no clock.
class ExactValues {
 public:
  /// With ReferenceMode::kOff nothing is known and nothing is computed.
  explicit ExactValues(ReferenceMode mode, double work = kExactWork)
      : mode_(mode), table_(work), pairs_(work, ExactMeansTable::kOfPairs) {}

  /// The exact value of each metric of the experiment, in the experiment's order; empty if none is
  /// known. Moments of logits are known for every law; means of softmax
  /// metrics for centred normal entries and two keys or more.
  std::vector<std::optional<double>> of(const Experiment& experiment, const Cell& cell,
                                        const Scaling& scaling);

  /// The share of queries expected to carry each of the experiment's metrics, once of() has
  /// answered; 1 if none is known. See carrying_share and logit_carrying_share.
  std::vector<double> carrying_shares(const Experiment& experiment, const Cell& cell,
                                      const Scaling& scaling) const;

  /// The same of each metric's difference from the first scaling: a statistic of logits is carried
  /// as it is under the scaling that fewer carry. A sink alone moves a metric where it has weight.
  std::vector<double> contrast_shares(const Experiment& experiment, const Cell& cell,
                                      const Scaling& scaling) const;

  /// The real d, in the grid or out of it, at which the exact mean top weight of cells like this
  /// one reaches the level; empty if it is not known or never does.
  std::optional<double> crossing(const Cell& cell, const Scaling& scaling, double level);

  /// One sentence for each kind of value that was left out.
  std::vector<std::string> warnings() const;

 private:
  using FoundMeans = std::map<ExactRequest, ExactMeans>;

  /// The request for a cell and scaling and the means found; nullptr if there are none.
  const FoundMeans::value_type* means_of(const Draw& draw, const Scaling& scaling) const;

  /// All means that the experiment's metrics ask for; those of pairs are NaN where they would take
  /// too much work, and empty where the others would.
  std::optional<ExactMeans> find_means(const Experiment& experiment, const ExactRequest& request);

  /// Calls value(). If that needs more work than the table has left, by the `expected` estimate or
  /// as it turns out while it computes, returns nothing and adds one to `skipped`.
  template <typename Value>
  std::invoke_result_t<Value> within_work(const ExactMeansTable& table, double expected,
                                          int& skipped, const Value& value);

  ReferenceMode mode_;
  ExactMeansTable table_;
  ExactMeansTable pairs_;
  FoundMeans means_;
  int skipped_means_ = 0;      ///< cells and scalings
  int skipped_pairs_ = 0;      ///< the same, of pairs' means alone
  int skipped_crossings_ = 0;  ///< levels
  int cut_crossings_ = 0;      ///< levels not met before the search ended
};

}  // namespace attnscale
