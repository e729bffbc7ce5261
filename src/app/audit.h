// Which usual mistake explains what enters a softmax: from numbers (a spread or a factor), or from
// the tensors of a layer.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "audit/factor_names.h"
#include "config/user_error.h"
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

struct AuditAnswer {
  std::string text;
  ExitCode code;  ///< kDone where all is explained, and is as it is meant if that is said
};

/// The answer for the screen, `width` characters wide, or JSON. Throws UserError for files that are
/// wrong or do not fit each other.
AuditAnswer audit(AuditCommand command, std::size_t width);

}  // namespace attnscale
