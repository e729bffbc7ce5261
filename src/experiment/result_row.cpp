#include "experiment/result_row.h"

#include "numerics/shortest.h"

namespace attnscale {

std::string name_with_value(std::string name, const std::optional<double>& value) {
  constexpr int kDigits = 6;  // a swept number may have rounding errors in its last digits
  if (value) name.append(" ").append(shortest(*value, kDigits));
  return name;
}

}  // namespace attnscale
