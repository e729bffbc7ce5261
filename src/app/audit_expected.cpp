#include "app/audit_expected.h"

#include <fmt/core.h>

#include "config/nearest_name.h"
#include "config/user_error.h"
#include "experiment/presets.h"
#include "formula/parse.h"

namespace attnscale {
namespace {

// A preset, or the formula that the text is.
Scaling scaling_like(const std::string& like) {
  if (auto scaling = find_scaling(like)) return *scaling;
  try {
    return make_scaling(like, parse_formula(like, FormulaKind::kLogit, {}, nearest_name));
  } catch (const FormulaError& error) {
    throw UserError(fmt::format(
        "attnscale audit: --like \"{}\" is no preset (see attnscale list scalings) and no formula: "
        "{}",
        like, error.what()));
  }
}

}  // namespace

ExpectedLogit expected_logit(const std::string& like, double d, double keys) {
  const Scaling scaling = scaling_like(like);
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
