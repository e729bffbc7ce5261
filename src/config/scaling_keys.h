// The keys of one object of `scalings`, as it changes the scaling that it starts from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/axis.h"
#include "config/field.h"
#include "experiment/scaling_table.h"

namespace attnscale {

/// A number that the object says, and the change that it is.
struct SaidNumber {
  std::optional<double> ScalingChanges::*change;
  NumberAxis axis;
};

/// A scaling in the making.
struct ScalingDraft {
  std::optional<std::string> name;
  const ScalingRow* like = nullptr;  ///< where it starts from; the score itself by default
  std::vector<SaidNumber> numbers;
  ScalingChanges words;  ///< all that is not a number
};

/// A scaling, or a sweep of one, as it is written.
using ScalingText = SweptNumbers<Scaling>;

/// The table; the numbers that a start needs are beside its keys. Name and start are written by
/// the object.
const std::vector<Row<ScalingDraft, ScalingText>>& scaling_rows();

/// Reads `like` or `preset`. Throws UserError.
void read_start(const JsonValue& value, const Field& field, ScalingDraft& draft);

/// Throws UserError for a text that names what is known but is no scaling of scores.
void refuse_what_is_no_scaling(const JsonValue& value);

}  // namespace attnscale
