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
         query.rule().precision == Precision::kFloat64;
}

struct RelativeSums {
  double top;      // the top weight
  double sum;      // sum p / top
  double squares;  // sum (p / top)^2
};

// Of weights that are not all 0.
RelativeSums sums_relative_to_top(const QueryWeights& query) {
  RelativeSums sums{query.weights()[query.top()], 0, 0};
  for (const double p : query.weights()) {
    sums.sum += p / sums.top;
    sums.squares += (p / sums.top) * (p / sums.top);
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
    // plain::log takes normal numbers; of smaller ones p ln p is as good as 0.
    if (p < std::numeric_limits<double>::min()) continue;
    sum -= p * (p > 0.5 ? plain::log1p(-query.complements()[key]) : plain::log(p));
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
  if (query.weights()[query.top()] == 0) return 0;
  const RelativeSums sums = sums_relative_to_top(query);
  return sums.top * std::sqrt(sums.squares);
}

double count_effective_keys(const QueryWeights& query) {
  if (query.weights()[query.top()] == 0) return 0;
  const RelativeSums sums = sums_relative_to_top(query);
  return sums.sum * sums.sum / sums.squares;
}

}  // namespace attnscale
