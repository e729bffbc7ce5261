// Exact values beside the estimates: what softmax metrics are on average when queries and keys hold
// independent normal entries, at any d, number of keys and multiplier, without a draw. Given the
// query q, the scores of independent keys are independent and normal with spread |q| times that of
// an entry, and |q| is chi with d degrees of freedom: theory/softmax_integrals gives the means at
// one |q|, this room averages over |q|. Knows nothing of config, plan or rows of results.
//
// All arithmetic is plain (numerics/portable_math), so the values are the same bytes wherever IEEE
// 754 holds. A value depends on its own request alone, never on what a table was asked before.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "theory/law_integrals.h"
#include "theory/quadrature.h"
#include "theory/softmax_integrals.h"

namespace attnscale {

/// What turns one query's scores into weights: logit = cap tanh(multiplier score / cap), or
/// multiplier * score without a cap; a sink adds e^sink to the sum of e^logit. With a sigmoid bias
/// a key's weight is sigma(logit + bias), and there is no sink.
struct ReferenceRow {
  std::int64_t keys = 2;        ///< at least 2; at least 1 with a sigmoid, where a margin is then 0
  double softcap = kNoSoftcap;  ///< above 0
  double sink = kNoSink;
  std::optional<double> sigmoid_bias = std::nullopt;

  friend auto operator<=>(const ReferenceRow&, const ReferenceRow&) = default;
};

/// What scores are: q.k of independent normal entries, or the cosine between a query and keys of
/// uniform direction (normal entries divided by their vectors' norms), whatever the norms were.
/// After an RMS norm q.k is d cosine: its multiplier is d times larger, its score_slope d times
/// smaller.
enum class ScoreLaw { kNormal, kCosine };

struct ReferenceRequest {
  double d = 1;  ///< above 0 (cosines: above 1), not necessarily whole
  ReferenceRow row;
  double multiplier = 1;  ///< finite; of either sign, as scores are symmetric
  double entry_sd = 1;    ///< sd of a query entry times sd of a key entry; means are 0; no cosine's
  ScoreLaw law = ScoreLaw::kNormal;
};

/// Means over queries of the metrics of these names, good to 1e-6 absolute (margin: relative to the
/// logit's spread). With a sink, sum_p2 and entropy sum over keys, the sink counts against the top
/// key in its slope, and -p ln p of the sink is a term of its own. Of sigmoids, sums over keys are
/// not divided by the total weight, and the error is relative to that weight where it is above 1.
struct SoftmaxReference {
  double top_weight;
  double slope;
  double score_slope;  ///< p (1 - p) dlogit / dscore; has the sign of the multiplier
  double sum_p2;
  double entropy;  ///< nats
  double margin;   ///< logits
  double sink_weight;
  double sink_entropy;  ///< nats
  double total_weight;  ///< over keys: 1 - sink_weight, or what sigmoids add up to
};

/// Standard deviation and kurtosis of all logits, whose mean is 0.
struct LogitMoments {
  double sd;
  std::optional<double> kurtosis;  ///< nothing where all logits are 0
};

/// A scaling multiplier * d^d_power as a function of d.
struct CrossingRequest {
  ReferenceRow row;
  double multiplier = 1;
  double d_power = 0;
  double entry_sd = 1;

  friend auto operator<=>(const CrossingRequest&, const CrossingRequest&) = default;
};

/// Means at fixed |q|, tabulated as they are needed against the logits' spread, so that cells with
/// equal rows share the work. Owned by whoever asks; not shared between threads without a lock.
class ReferenceTable {
 public:
  /// Means of a query whose logits have spread `spread` >= 0 (before a soft-cap bends them).
  /// score_slope is per unit of multiplier and margin per unit of spread.
  SoftmaxReference at_spread(const ReferenceRow& row, double spread);

  /// Its top_weight alone.
  double top_weight_at_spread(const ReferenceRow& row, double spread);

  /// Means of a query with cosines for scores.
  const SoftmaxReference& of_cosines(const ReferenceRow& row, double d, double multiplier);

  /// Norms of queries of d normal entries, as theory/quadrature's chi_rule has them.
  const QuadratureRule& norms(double d);

  /// The mean top weight at ascending log d, as far as it was needed.
  std::vector<double>& walk(const CrossingRequest& request) { return walks_[request]; }

  /// Multiplications still to be done before the request can be answered; about 1e9 of them take a
  /// second; infinity where logits are too far apart for a table. Depends on earlier requests but
  /// on no clock, so that a budget skips the same cells on every machine.
  double pending_work(const ReferenceRequest& request) const;

  /// The same for a crossing, at most: that of every d it may look at.
  double pending_work(const CrossingRequest& request) const;

 private:
  static constexpr std::size_t kColumns = 9;
  /// Chebyshev coefficients of every member of SoftmaxReference on one interval of asinh(spread).
  using Panel = std::array<std::vector<double>, kColumns>;
  struct Row {
    std::optional<SoftmaxIntegrals> linear;  // where logits are straight
    std::map<int, Panel> panels;
  };
  /// Where a spread lies: its panel, and the place in it from -1 to 1.
  struct Place {
    const Panel& panel;
    double x;
  };

  static Panel make_panel(const Row& row, const ReferenceRow& key, int index);
  static Panel make_panel(const Row& row, const ReferenceRow& key, int index, int points);
  Place place_of(const ReferenceRow& row, double spread);

  double pending_work(const ReferenceRow& row, double least_spread, double most_spread) const;

  std::map<ReferenceRow, Row> rows_;
  std::map<std::tuple<ReferenceRow, double, double>, SoftmaxReference> cosines_;  // d, multiplier
  std::map<double, QuadratureRule> norms_;
  std::map<CrossingRequest, std::vector<double>> walks_;
};

/// The exact means of a request.
SoftmaxReference softmax_reference(ReferenceTable& table, const ReferenceRequest& request);

/// Standard deviation and kurtosis of the logits. A sink and a sigmoid change neither.
LogitMoments logit_moments_reference(const ReferenceRequest& request);

/// P(top weight > threshold), where it is known: for 2 keys without soft-cap and sink.
std::optional<double> saturated_reference(const ReferenceRequest& request, double threshold);

/// The median of the top weight, where it is known: for 2 keys without soft-cap and sink.
std::optional<double> median_top_weight_reference(const ReferenceRequest& request);

/// The smallest real d in [1, 1e12] at which the exact mean top weight crosses `level`, from either
/// side; nothing where it never does. Under a soft-cap, d ends where the uncapped logits' spread is
/// 64 times the cap, where the mean no longer moves; beside a sink or in a sigmoid without a cap,
/// where their spread is 128 (see is_cut_short). Relative error below 1e-6 where the mean is not
/// flat.
std::optional<double> exact_crossing(ReferenceTable& table, const CrossingRequest& request,
                                     double level);

/// True where the mean may still move beyond the last d that exact_crossing looks at, below 1e12.
bool is_cut_short(const CrossingRequest& request);

}  // namespace attnscale
