// Exact values beside the estimates: what softmax metrics are on average when queries and keys hold
// independent normal entries, at any d, number of keys and multiplier, without a draw. Given the
// query q, the scores of independent keys are independent and normal with spread |q| times that of
// an entry, and |q| is chi with d degrees of freedom: theory/softmax_integrals gives the means at
// one |q|, this room averages over |q|. Knows nothing of config, plan or rows of results.
//
// All arithmetic is portable (numerics/portable_math), so the values are the same bytes wherever
// IEEE 754 holds. A value depends on its own request alone, never on earlier ones.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "theory/exact_means.h"
#include "theory/quadrature.h"
#include "theory/softmax_integrals.h"
#include "theory/weighing.h"

namespace attnscale {

/// Means at fixed |q|, tabulated as they are needed against the logits' spread, so that cells of
/// equal weighing share the work. Owned by whoever asks; not shared between threads without a lock.
class ExactMeansTable {
 public:
  /// Means of a query whose logits have spread `spread` >= 0 (before a soft-cap bends them), but
  /// for kMeanLogit, which stays 0. kScoreSlope is per unit of multiplier, kMargin per unit of
  /// spread.
  ExactMeans at_spread(const WeighingCase& weighing, double spread);

  /// The top weight alone.
  double top_weight_at_spread(const WeighingCase& weighing, double spread);

  /// Means of a query with cosines for scores.
  const ExactMeans& of_cosines(const WeighingCase& weighing, double d, double multiplier);

  /// Norms of queries of d normal entries, as theory/quadrature's chi_rule has them.
  const QuadratureRule& norms(double d);

  /// The mean top weight at ascending log d, as far as it was needed.
  std::vector<double>& walk(const CrossingRequest& request) { return walks_[request]; }

  /// Multiplications still to be done before the request can be answered; about 1e9 of them take a
  /// second; infinity where logits are too far apart for a table. Depends on earlier requests but
  /// on no clock, so that a budget skips the same cells on every machine.
  double pending_work(const ExactRequest& request) const;

  /// The same for all spreads between these two.
  double pending_work(const WeighingCase& weighing, double least_spread, double most_spread) const;

 private:
  /// Chebyshev coefficients of every mean on one interval of asinh(spread).
  using Panel = std::array<std::vector<double>, ExactMeans::kCount>;
  struct Panels {
    std::optional<SoftmaxIntegrals> linear;  // where logits are multiples of scores
    std::map<int, Panel> at;
  };
  /// Where a spread lies: its panel, and the place in it from -1 to 1.
  struct Place {
    const Panel& panel;
    double x;
  };

  static Panel make_panel(const Panels& panels, const WeighingCase& weighing, int index);
  static Panel make_panel(const Panels& panels, const WeighingCase& weighing, int index,
                          int points);
  Place place_of(const WeighingCase& weighing, double spread);

  std::map<WeighingCase, Panels> panels_;
  std::map<std::tuple<WeighingCase, double, double>, ExactMeans> cosines_;  // d, multiplier
  std::map<double, QuadratureRule> norms_;
  std::map<CrossingRequest, std::vector<double>> walks_;
};

/// The exact means of a request, good to 1e-6 absolute (margin: relative to the logit's spread). Of
/// sigmoids, sums over keys are not divided by the total weight, and their error is relative to
/// that weight where it is above 1. kScoreSlope has the sign of the multiplier.
ExactMeans exact_means(ExactMeansTable& table, const ExactRequest& request);

/// The exact mean top weight alone.
double exact_top_weight(ExactMeansTable& table, const ExactRequest& request);

}  // namespace attnscale
