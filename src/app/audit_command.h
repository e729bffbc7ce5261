// What a user asks an audit.
#pragma once

#include <optional>
#include <string>

#include "audit/factor_names.h"
#include "io/tensor.h"

namespace attnscale {

/// What the user says.
struct AuditCommand {
  ModelSizes sizes = {};
  std::optional<double> measured_sd = {};  ///< of what enters the softmax; above 0
  double query_sd = 1;                     ///< of an entry
  double key_sd = 1;
  std::optional<double> factor = {};      ///< in place of a spread
  std::optional<std::string> like = {};   ///< what is meant: a preset or a formula
  std::optional<double> multiplier = {};  ///< what is meant, times sqrt(d)
  std::optional<std::string> queries = {}, keys = {}, weights = {}, scores = {};  ///< files
  TensorReading reading = {};
  std::optional<double> masked_below = {};
  bool causal = false;
  bool json = false;
};

}  // namespace attnscale
