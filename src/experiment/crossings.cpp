#include "experiment/crossings.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace attnscale {
namespace {

constexpr std::array kLevels{0.5, 0.9, 0.99};

struct Point {
  double d;
  double weight;
};

// The d at which the line through a and b, in ln(1 - weight) against ln d, is at the level.
double interpolate(const Point& a, const Point& b, double level) {
  // In long double: x86's own instructions, which no vector extension of the machine changes. A
  // weight that rounds to 1 has no logarithm of its complement: a tiny one stands in.
  const auto log = [](double number) { return std::log(static_cast<long double>(number)); };
  const auto log_rest = [&](double weight) { return log(std::max(1 - weight, 1e-300)); };
  const long double share =
      (log_rest(level) - log_rest(a.weight)) / (log_rest(b.weight) - log_rest(a.weight));
  return static_cast<double>(std::exp(log(a.d) + share * (log(b.d) - log(a.d))));
}

CrossingRow find_crossing(ResultKey family, const std::string& statistic, double level,
                          const std::vector<Point>& points) {
  CrossingRow row{std::move(family), "top_weight", statistic, level, {}, {}, "not_reached"};
  const auto reached = std::find_if(points.begin(), points.end(),
                                    [&](const Point& point) { return point.weight >= level; });
  if (reached == points.begin()) {
    row.status = "below";
  } else if (reached != points.end()) {
    row.status = "ok";
    row.d = interpolate(*std::prev(reached), *reached, level);
  }
  return row;
}

ResultKey family_of(const ResultRow& row) {
  ResultKey family = row.key;
  family.d = std::nullopt;
  return family;
}

void add_family(const ResultKey& family, const std::vector<const ResultRow*>& rows,
                std::vector<CrossingRow>& crossings) {
  const std::array statistics{std::pair{"mean", &ResultRow::estimate},
                              std::pair{"median", &ResultRow::median}};
  for (const auto& [name, statistic] : statistics) {
    std::vector<Point> points;
    for (const ResultRow* row : rows) {
      const auto& weight = row->*statistic;
      if (weight) points.push_back({static_cast<double>(*row->key.d), *weight});
    }
    if (points.size() < 2) continue;
    std::sort(points.begin(), points.end(),
              [](const Point& a, const Point& b) { return a.d < b.d; });
    for (const double level : kLevels) {
      crossings.push_back(find_crossing(family, name, level, points));
    }
  }
}

}  // namespace

std::vector<CrossingRow> find_crossings(const std::vector<ResultRow>& rows) {
  std::vector<std::pair<ResultKey, std::vector<const ResultRow*>>> families;
  for (const ResultRow& row : rows) {
    if (row.metric != "top_weight" || !row.key.d || row.key.entries.empty()) continue;
    const ResultKey key = family_of(row);
    auto family = std::find_if(families.begin(), families.end(),
                               [&](const auto& other) { return other.first == key; });
    if (family == families.end()) family = families.insert(families.end(), {key, {}});
    family->second.push_back(&row);
  }
  std::vector<CrossingRow> crossings;
  for (const auto& [key, members] : families) add_family(key, members, crossings);
  return crossings;
}

}  // namespace attnscale
