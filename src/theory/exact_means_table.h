// Exact values beside the estimates: what softmax metrics are on average when queries and keys hold
// independent normal entries, at any d, number of keys and multiplier, without a draw. Given the
// query q, the scores of independent keys are independent and normal with spread |q| times that of
// an entry, and |q| is chi with d degrees of freedom: theory/softmax_integrals gives the means at
// one |q|, this file averages over |q|. Knows nothing of config, plan or rows of results.
//
// All arithmetic is portable (numerics/portable_math), so the values are the same bytes wherever
// IEEE 754 holds. A value depends on its own request alone, never on earlier ones.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "numerics/quadrature.h"
#include "theory/exact_means.h"
#include "theory/softmax_integrals.h"
#include "theory/weighing.h"

namespace attnscale {

/// Exact means are good to this, absolute below 1 and relative above.
inline constexpr double kExactError = 3e-8;

/// Thrown where a value would take more work than a table may still do.
struct OutOfWork {};

/// Values of a function at even steps from `first` to `last`, as far as they were needed; levels
/// share them.
struct Walk {
  double first = 0;
  double last = 0;
  std::size_t steps = 24;
  std::vector<double> values = {};
};

/// Means at fixed |q|, tabulated as they are needed against the logits' spread, so that cells of
/// equal weighing share the work. Owned by whoever asks; not shared between threads without a lock.
class ExactMeansTable {
 public:
  /// All but kMeanLogit, which no metric asks for.
  static constexpr std::array kTabulated{ExactMean::kTopWeight,   ExactMean::kSlope,
                                         ExactMean::kScoreSlope,  ExactMean::kSumP2,
                                         ExactMean::kEntropy,     ExactMean::kMargin,
                                         ExactMean::kTotalWeight, ExactMean::kSinkWeight,
                                         ExactMean::kSinkEntropy, ExactMean::kSquaredSinkWeight};

  /// Those of theory/pair_means, which have a table of their own.
  static constexpr std::array kOfPairs{ExactMean::kEffectiveKeys, ExactMean::kWeightMargin};
  static bool is_of_pairs(ExactMean mean) { return std::ranges::count(kOfPairs, mean) > 0; }

  /// A table of these means that does at most so many multiplications, of which about 1e9 take a
  /// second.
  explicit ExactMeansTable(double work = std::numeric_limits<double>::infinity(),
                           std::span<const ExactMean> tabulated = kTabulated)
      : tabulated_(tabulated), left_(work) {}

  std::span<const ExactMean> tabulated() const { return tabulated_; }

  /// The `wanted` means of a query whose logits have spread `spread` >= 0 (before a soft-cap bends
  /// them). kScoreSlope is per unit of multiplier. Throws OutOfWork.
  ExactMeans at_spread(const WeighingCase& weighing, double spread,
                       std::span<const ExactMean> wanted);
  ExactMeans at_spread(const WeighingCase& weighing, double spread) {
    return at_spread(weighing, spread, tabulated_);
  }

  /// Means of a query with cosines for scores. Throws OutOfWork.
  const ExactMeans& of_cosines(const WeighingCase& weighing, double d, double multiplier);

  /// Norms of queries of d normal entries, as numerics/quadrature's chi_rule has them.
  const QuadratureRule& norms(double d, int halvings);

  /// The mean top weight at ascending log d.
  Walk& walk(const CrossingRequest& request) { return walks_[request]; }

  double work_left() const { return left_; }

  /// Multiplications still to be done before the request can be answered, if the means are no
  /// sharper in |q| than most; infinity where logits are too far apart for a table. Depends on
  /// earlier requests but on no clock, so that a budget skips the same cells on every machine.
  double pending_work(const ExactRequest& request) const;

  /// The same for all spreads between these two.
  double pending_work(const WeighingCase& weighing, double least_spread, double most_spread) const;

 private:
  /// An interval of asinh(spread): number `index` of those that `halvings` of the widest give.
  struct Interval {
    int halvings;
    std::int64_t index;
    friend auto operator<=>(const Interval&, const Interval&) = default;
  };
  /// Chebyshev coefficients of every mean on one interval; empty where they do not fall fast enough
  /// and its halves have panels of their own.
  using Panel = std::array<std::vector<double>, ExactMeans::kCount>;
  struct Panels {
    std::optional<SoftmaxIntegrals> linear;  // where logits are multiples of scores
    std::map<Interval, Panel> at;
  };
  /// Where a spread lies: its panel, and the place in it from -1 to 1.
  struct Place {
    const Panel& panel;
    double x;
  };

  Panel make_panel(const Panels& panels, const WeighingCase& weighing, Interval interval);
  Place place_of(const WeighingCase& weighing, double spread);
  double pending_work(const WeighingCase& weighing, const Panels* panels, Interval interval,
                      double least, double most) const;
  ExactMeans means_of(const WeighingCase& weighing, const LogitLaw& law) const;
  double work_at_range(const WeighingCase& weighing, double range) const;
  double work_at_spread(const WeighingCase& weighing, double spread) const;
  double cosine_work(const ExactRequest& request) const;
  bool has_pairs() const { return is_of_pairs(tabulated_.front()); }
  bool is_rough(const Panel& panel) const;
  void spend(double work);

  std::span<const ExactMean> tabulated_;
  double left_;
  std::map<WeighingCase, Panels> panels_;
  std::map<std::tuple<WeighingCase, double, double>, ExactMeans> cosines_;  // d, multiplier
  std::map<std::tuple<double, int>, QuadratureRule> norms_;
  std::map<CrossingRequest, Walk> walks_;
};

/// The means of a request that the table has, good to kExactError. Of sigmoids, sums over
/// keys are not divided by the total weight. kScoreSlope has the sign of the multiplier. Throws
/// OutOfWork.
ExactMeans exact_means(ExactMeansTable& table, const ExactRequest& request);

/// The exact mean top weight alone, of normal scores. Throws OutOfWork.
double exact_top_weight(ExactMeansTable& table, const ExactRequest& request);

}  // namespace attnscale
