#include "experiment/hidden_overflows.h"

#include <cmath>

namespace attnscale {

HiddenOverflows::HiddenOverflows(const ScalingRule& rule) {
  if (!rule.softcap || rule.weights.precision == Precision::kFloat64) return;
  uncapped_ = rule;
  uncapped_->softcap.reset();
}

void HiddenOverflows::start(std::int64_t queries) {
  if (uncapped_) overflowed_.assign(static_cast<std::size_t>(queries), false);
}

void HiddenOverflows::add(const ScoreSize& size, const Scores& scores, std::int64_t stride) {
  if (!uncapped_) return;
  logits_.resize(scores.scores.size());
  apply_scaling(*uncapped_, size, scores, logits_);
  for (std::size_t start = 0; start < logits_.size(); start += static_cast<std::size_t>(stride)) {
    for (std::size_t query = 0; query < overflowed_.size(); ++query) {
      if (!std::isfinite(logits_[start + query])) overflowed_[query] = true;
    }
  }
}

}  // namespace attnscale
