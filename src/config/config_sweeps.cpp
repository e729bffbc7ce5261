#include "config/config_sweeps.h"

namespace attnscale {

void for_each_value(const JsonValue& object, const std::vector<const NumberAxis*>& axes,
                    const TakeNumbers& take) {
  std::vector<double> numbers;
  std::optional<std::size_t> swept;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    numbers.push_back(axes[i]->values.front());
    if (!axes[i]->swept) continue;
    if (swept) {
      refuse(object,
             "two numbers of one object are lists or ranges; only one may be, write several "
             "objects instead");
    }
    swept = i;
  }
  if (!swept) return take(numbers, std::nullopt);
  for (const double value : axes[*swept]->values) {
    numbers[*swept] = value;
    take(numbers, value);
  }
}

}  // namespace attnscale
