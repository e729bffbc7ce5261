// How the largest logit of each query answers its score, for which that score must be remembered.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "formula/program.h"

namespace attnscale {

/// Of each query of a group the key of its largest logit so far, the first of equals.
class TopScores {
 public:
  TopScores(const Formula& logit, const FormulaSize& size);

  /// Starts over for a group of queries that have seen no key.
  void start(std::size_t stride);

  /// Takes more keys, and their logits, which are laid out as scores are.
  void add_keys(const FormulaScores& scores, std::span<const double> logits);

  /// True where the slope is the same for all queries.
  bool is_same_for_all() const { return slope_of_all_.has_value(); }

  /// d logit / d score of the query's top key, under a norm to the product after it.
  double slope(std::size_t query) const;

 private:
  struct Key {
    double score = 0;
    double place = 0;
    double squared_query_norm = 0;
    double squared_key_norm = 0;
    double query_sum = 0;
    double key_sum = 0;
  };

  std::optional<double> slope_of_all_;
  std::optional<FormulaProgram> slope_;  ///< where it is not
  std::vector<double> top_logits_;
  std::vector<Key> top_;
};

}  // namespace attnscale
