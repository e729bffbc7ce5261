#include "numerics/weight_sums.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "numerics/portable_math.h"

namespace attnscale {
namespace {

// True where the weights, not rounded, and the sink's are one whole.
bool share_one(const QueryWeights& query) {
  return query.rule().normaliser.kind != NormaliserKind::kSigmoid &&
         query.rule().precision.has_exact_weights();
}

// ln p of p > 0, subnormal ones too, which plain::log does not take.
double log_of_weight(double p) {
  constexpr double kPower = 0x1p64;
  constexpr double kLogPower = 44.361419555836499802;  // 64 ln 2
  return p < std::numeric_limits<double>::min() ? plain::log(p * kPower) - kLogPower
                                                : plain::log(p);
}

struct RelativeSums {
  double top;      // the top weight
  double sum;      // sum p / top
  double squares;  // sum (p / top)^2
};

bool all_rounded_to_zero(const QueryWeights& query) {
  return !query.rule().precision.has_exact_weights() && query.weights()[query.top()] == 0;
}

// Of weights that were not all rounded to 0.
RelativeSums sums_relative_to_top(const QueryWeights& query) {
  // Weights far below a sink have too few digits left, or none: there they are e^logit apart.
  constexpr double kFewDigits = 1e-290;
  const double top = query.weights()[query.top()];
  const bool by_logits = query.rule().precision.has_exact_weights() && top < kFewDigits;
  RelativeSums sums{top, 0, 0};
  for (std::size_t key = 0; key < query.weights().size(); ++key) {
    const double ratio =
        by_logits ? plain::exp_of_negative(query.logits()[key] - query.logits()[query.top()])
                  : query.weights()[key] / top;
    sums.sum += ratio;
    sums.squares += ratio * ratio;
  }
  return sums;
}

}  // namespace

double sum_weights(const QueryWeights& query) {
  return std::accumulate(query.weights().begin(), query.weights().end(), 0.0);
}

double sum_kept_back(const QueryWeights& query) {
  return share_one(query) ? query.sink() : 1 - sum_weights(query);
}

// ln p of a weight above one half is taken from its complement.
double sum_entropy(const QueryWeights& query) {
  double sum = 0;
  for (std::size_t key = 0; key < query.weights().size(); ++key) {
    const double p = query.weights()[key];
    if (p == 0) continue;
    sum -= p * (p > 0.5 ? plain::log1p(-query.complements()[key]) : log_of_weight(p));
  }
  return sum;
}

double sum_squares(const QueryWeights& query) {
  const auto weights = query.weights();
  return std::inner_product(weights.begin(), weights.end(), weights.begin(), 0.0);
}

double sum_without_squares(const QueryWeights& query) {
  if (!share_one(query)) return 1 - sum_squares(query);
  // sum p + sink = 1, so that 1 - sum p^2 = sum p (1 - p) + sink.
  const auto weights = query.weights();
  return std::inner_product(weights.begin(), weights.end(), query.complements().begin(),
                            query.sink());
}

double root_of_squares(const QueryWeights& query) {
  if (all_rounded_to_zero(query)) return 0;
  const RelativeSums sums = sums_relative_to_top(query);
  return sums.top * std::sqrt(sums.squares);
}

double count_effective_keys(const QueryWeights& query) {
  if (all_rounded_to_zero(query)) return 0;
  const RelativeSums sums = sums_relative_to_top(query);
  return sums.sum * sums.sum / sums.squares;
}

}  // namespace attnscale
