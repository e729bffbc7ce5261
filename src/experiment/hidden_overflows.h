// Which queries have an overflow that a soft-cap hides: in a narrow precision a number before the
// cap may overflow, and what the cap makes of it looks like any other logit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "experiment/scaling.h"

namespace attnscale {

class HiddenOverflows {
 public:
  explicit HiddenOverflows(const ScalingRule& rule);

  /// Starts a group of queries, none of which overflowed yet.
  void start(std::int64_t queries);

  /// Takes the scores of the group's queries against some of their keys,
  /// scores[key * stride + query].
  void add(const ScoreSize& size, const Scores& scores, std::int64_t stride);

  /// True where a logit of the query without the cap, as far as its keys were added, is not finite.
  bool of(std::int64_t query) const {
    return uncapped_ && overflowed_[static_cast<std::size_t>(query)];
  }

 private:
  std::optional<ScalingRule> uncapped_;  ///< the rule without its cap; nothing where none can hide
  std::vector<double> logits_;
  std::vector<bool> overflowed_;
};

}  // namespace attnscale
