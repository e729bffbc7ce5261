// Objects of a list of which one number may be a list or range: a sweep under one name.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/config_draft.h"
#include "config/json_document.h"

namespace attnscale {

/// Takes the numbers of one object: `numbers` has one of each axis; `swept` is the one of them that
/// is swept, where one is.
using TakeNumbers =
    std::function<void(const std::vector<double>& numbers, std::optional<double> swept)>;

/// Calls `take` once per value of the axis that is swept, or once. Throws UserError at `object`
/// where two are.
void for_each_value(const JsonValue& object, const std::vector<const NumberAxis*>& axes,
                    const TakeNumbers& take);

/// Throws UserError at `value` where one of `earlier` has this name.
template <typename Named>
void refuse_repeated_name(const JsonValue& value, const std::vector<Named>& earlier,
                          const std::string& name, const std::string& noun) {
  for (const Named& other : earlier) {
    if (other.name == name) {
      refuse(value, "a second " + noun + " with the name " + quote(name) + "; names must differ");
    }
  }
}

}  // namespace attnscale
