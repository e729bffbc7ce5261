#include "config/sweep.h"

#include <fmt/core.h>

namespace attnscale {

std::vector<SweepPoint> sweep_points(const JsonValue& object, const std::vector<NumberAxis>& axes) {
  SweepPoint point;
  std::optional<std::size_t> swept;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    point.numbers.push_back(axes[i].values.front());
    if (!axes[i].swept) continue;
    if (swept) {
      refuse(object,
             "two numbers of one object are lists or ranges; only one may be, write several "
             "objects instead");
    }
    swept = i;
  }
  if (!swept) return {point};
  std::vector<SweepPoint> points;
  for (const double value : axes[*swept].values) {
    point.numbers[*swept] = value;
    point.swept = value;
    points.push_back(point);
  }
  return points;
}

void refuse_second(const JsonValue& value, std::string_view noun, const std::string& name) {
  refuse(value, fmt::format("a second {} with the name {}; names must differ", noun, quote(name)));
}

}  // namespace attnscale
