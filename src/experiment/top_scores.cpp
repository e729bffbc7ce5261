#include "experiment/top_scores.h"

#include <limits>

#include "formula/derivative.h"

namespace attnscale {

TopScores::TopScores(const Formula& logit, const FormulaSize& size) {
  const FormulaProgram program(logit, size);
  if (program.linear()) {
    slope_of_all_ = program.linear()->slope.at(size.d);
  } else {
    slope_.emplace(derivative(logit), size);
  }
}

void TopScores::start(std::size_t stride) {
  if (slope_of_all_) return;
  top_logits_.assign(stride, -std::numeric_limits<double>::infinity());
  top_.assign(stride, {});
}

void TopScores::add_keys(const FormulaScores& scores, std::span<const double> logits) {
  if (slope_of_all_) return;
  const auto at = [](std::span<const double> numbers, std::size_t place) {
    return numbers.empty() ? 0 : numbers[place];
  };
  for (std::size_t start = 0; start < logits.size(); start += scores.stride) {
    for (std::size_t query = 0; query < scores.stride; ++query) {
      const std::size_t n = start + query;
      if (!(logits[n] > top_logits_[query])) continue;
      top_logits_[query] = logits[n];
      top_[query] = {scores.scores[n],
                     scores.first_key + static_cast<double>(start / scores.stride),
                     at(scores.squared_query_norms, query),
                     at(scores.squared_key_norms, n),
                     at(scores.query_sums, query),
                     at(scores.key_sums, n)};
    }
  }
}

double TopScores::slope(std::size_t query) const {
  if (slope_of_all_) return *slope_of_all_;
  const Key& top = top_[query];
  double slope = 0;
  slope_->evaluate({{&top.score, 1},
                    1,
                    top.place,
                    {&top.squared_query_norm, 1},
                    {&top.squared_key_norm, 1},
                    {&top.query_sum, 1},
                    {&top.key_sum, 1}},
                   Precision::kFloat64, {&slope, 1});
  return slope;
}

}  // namespace attnscale
