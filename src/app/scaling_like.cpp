#include "app/scaling_like.h"

#include <fmt/core.h>

#include "config/nearest_name.h"
#include "config/user_error.h"
#include "experiment/presets.h"
#include "formula/parse.h"

namespace attnscale {

Scaling scaling_like(const std::string& asked, const std::string& text) {
  if (auto scaling = find_scaling(text)) return *scaling;
  try {
    return make_scaling(text, parse_formula(text, FormulaKind::kLogit, {}, nearest_name));
  } catch (const FormulaError& error) {
    throw UserError(
        fmt::format("{} \"{}\" is no preset (see attnscale list scalings) and no formula: {}",
                    asked, text, error.what()));
  }
}

}  // namespace attnscale
