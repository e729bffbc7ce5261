#include "app/audit_expected.h"

#include <fmt/core.h>

#include <array>
#include <string_view>
#include <utility>

#include "config/user_error.h"
#include "experiment/scaling_table.h"
#include "formula/constants.h"
#include "formula/parse.h"

namespace attnscale {
namespace {

// A preset that only a formula can say.
constexpr std::array kFormulas{
    std::pair<std::string_view, std::string_view>{"deepseek_v2_lite",
                                                  "(0.0707 ln(40) + 1)^2 q.k / sqrt(d)"},
};

ExpectedLogit of_formula(const std::string& name, std::string_view text, double d, double keys) {
  const Formula formula = parse_formula(text, FormulaKind::kLogit);
  const LinearParts parts = linear_parts(formula, constants_of(formula, {d, keys, 0}), d);
  for (std::size_t i = parts.size(); i > 0; --i) {
    // The last part that is linear in the score: what a soft-cap bends, if there is one.
    if (!parts[i - 1] || parts[i - 1]->slope.at(d) == 0) continue;
    return {name, parts[i - 1]->slope.at(d)};
  }
  throw UserError(fmt::format("attnscale audit: --like \"{}\" has no factor before q.k", text));
}

}  // namespace

ExpectedLogit expected_logit(const std::string& like, double d, double keys) {
  for (const auto& [name, text] : kFormulas) {
    if (like == name) return of_formula(like, text, d, keys);
  }
  if (const auto scaling = find_scaling(like)) {
    const ScoreSize size{static_cast<std::int64_t>(d), static_cast<std::int64_t>(keys)};
    return {like, multiplier_at(scaling->rule, size), scaling->rule.softcap,
            scaling->rule.weights.normaliser.kind == NormaliserKind::kSink};
  }
  try {
    return of_formula(like, like, d, keys);
  } catch (const FormulaError& error) {
    throw UserError(fmt::format(
        "attnscale audit: --like \"{}\" is no preset (see attnscale list scalings) and no formula: "
        "{}",
        like, error.what()));
  }
}

}  // namespace attnscale
