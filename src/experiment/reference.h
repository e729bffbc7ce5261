// Exact values beside the estimates: what softmax metrics are on average when queries and keys hold
// independent normal entries, at any d, number of keys and multiplier, without a draw. Given the
// query q, the scores of independent keys are independent and normal with spread |q| times that of
// an entry, and |q| is chi with d degrees of freedom: numerics/softmax_integrals gives the means at
// one |q|, this room averages over |q|. Knows nothing of config, plan or rows of results.
//
// All arithmetic is plain (numerics/plain_math), so the values are the same bytes wherever IEEE 754
// holds. A value depends on its own request alone, never on what a table was asked before.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "numerics/softmax_integrals.h"

namespace attnscale {

/// No soft-cap: logits grow without bound.
inline constexpr double kNoSoftcap = std::numeric_limits<double>::infinity();

/// What turns one query's scores into weights: logit = cap tanh(multiplier score / cap), or
/// multiplier * score without a cap; a sink adds e^sink to the sum of e^logit.
struct ReferenceRow {
  std::int64_t keys = 2;        ///< at least 2
  double softcap = kNoSoftcap;  ///< above 0
  double sink = kNoSink;

  friend auto operator<=>(const ReferenceRow&, const ReferenceRow&) = default;
};

struct ReferenceRequest {
  double d = 1;  ///< above 0, not necessarily whole
  ReferenceRow row;
  double multiplier = 1;  ///< finite; of either sign, as scores are symmetric
  double entry_sd = 1;    ///< sd of a query entry times sd of a key entry; means are 0
};

/// Means over queries of the metrics of these names, good to 1e-6 absolute (margin: relative to the
/// logit's spread). With a sink, sum_p2 and entropy sum over keys, the sink counts against the top
/// key in its slope, and -p ln p of the sink is a term of its own.
struct SoftmaxReference {
  double top_weight;
  double slope;
  double score_slope;  ///< has the sign of the multiplier
  double sum_p2;
  double entropy;  ///< nats
  double margin;   ///< logits
  double sink_weight;
  double sink_entropy;  ///< nats
};

/// A scaling multiplier * d^d_power as a function of d.
struct CrossingRequest {
  ReferenceRow row;
  double multiplier = 1;
  double d_power = 0;
  double entry_sd = 1;
};

/// Means at fixed |q|, tabulated as they are needed against the logits' spread, so that cells with
/// equal rows share the work. Owned by whoever asks; not shared between threads without a lock.
class ReferenceTable {
 public:
  /// Means of a query whose logits have spread `spread` >= 0 (before a soft-cap bends them).
  /// score_slope is per unit of multiplier and margin per unit of spread.
  SoftmaxReference at_spread(const ReferenceRow& row, double spread);

  /// Multiplications still to be done before the request can be answered; about 1e9 of them take a
  /// second; infinity where logits are too far apart for a table. Depends on earlier requests but
  /// on no clock, so that a budget skips the same cells on every machine.
  double pending_work(const ReferenceRequest& request) const;

  /// The same for a crossing, at most: that of every d it may look at.
  double pending_work(const CrossingRequest& request) const;

 private:
  static constexpr std::size_t kColumns = 8;
  /// Chebyshev coefficients of every member of SoftmaxReference on one interval of asinh(spread).
  using Panel = std::array<std::vector<double>, kColumns>;
  struct Row {
    SoftmaxIntegrals integrals;
    std::map<int, Panel> panels;
  };

  static Panel make_panel(const SoftmaxIntegrals& integrals, const ReferenceRow& row, int index);
  static Panel make_panel(const SoftmaxIntegrals& integrals, const ReferenceRow& row, int index,
                          int points);

  double pending_work(const ReferenceRow& row, double least_spread, double most_spread) const;

  std::map<ReferenceRow, Row> rows_;
};

/// The exact means of a request.
SoftmaxReference softmax_reference(ReferenceTable& table, const ReferenceRequest& request);

/// P(top weight > threshold), where it is known: for 2 keys without soft-cap and sink.
std::optional<double> saturated_reference(const ReferenceRequest& request, double threshold);

/// The median of the top weight, where it is known: for 2 keys without soft-cap and sink.
std::optional<double> median_top_weight_reference(const ReferenceRequest& request);

/// The smallest real d in [1, 1e12] at which the exact mean top weight crosses `level`, from either
/// side; nothing where it never does. Under a soft-cap, d ends where the uncapped logits' spread is
/// 64 times the cap. Relative error below 1e-6 where the mean is not flat.
std::optional<double> exact_crossing(ReferenceTable& table, const CrossingRequest& request,
                                     double level);

}  // namespace attnscale
