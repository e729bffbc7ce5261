#include "app/audit_expected.h"

#include <fmt/core.h>

#include "app/scaling_like.h"
#include "config/user_error.h"

namespace attnscale {

ExpectedLogit expected_logit(const std::string& like, double d, double keys) {
  const Scaling scaling = scaling_like("attnscale audit: --like", like);
  const auto logit = capped_logit(scaling.logit, {d, keys, keys - 1});
  if (!logit || logit->slope.multiplier == 0) {
    throw UserError(fmt::format(
        "attnscale audit: --like \"{}\" has no factor before q.k; expected a multiple of q.k or a "
        "soft-cap of one, such as \"30 tanh(q.k / sqrt(d) / 30)\"",
        like));
  }
  return {like, logit->slope.at(d), logit->cap ? std::optional(logit->cap->at(d)) : std::nullopt,
          scaling.weights.normaliser.kind == NormaliserKind::kSink};
}

}  // namespace attnscale
