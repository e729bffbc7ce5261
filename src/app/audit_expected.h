// What a model means its scores to be multiplied by: the preset or formula of --like.
#pragma once

#include <optional>
#include <string>

namespace attnscale {

struct ExpectedLogit {
  std::string name;
  double factor = 1;
  std::optional<double> soft_cap = {};
  bool has_sink = false;
};

/// Of the preset, or of the formula of a logit such as "q.k / sqrt(d)", at that head size and
/// number of keys. Throws UserError for what is neither.
ExpectedLogit expected_logit(const std::string& like, double d, double keys);

}  // namespace attnscale
