#include "estimate/crossings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "numerics/double_double.h"

namespace attnscale {
namespace {

constexpr std::array kLevels{0.5, 0.9, 0.99};
static_assert(kMostCrossings == 2 * kLevels.size());

struct Point {
  double d;
  double weight;
  std::optional<double> std_error;  // of the weight
};

// The d at which the line through a and b, in ln(1 - weight) against ln d, is at the level.
double interpolate(const Point& a, const Point& b, double level) {
  const auto log = [](double number) { return plain::log(DoubleDouble(number)); };
  // A weight that rounds to 1 has no logarithm of its complement: a tiny one takes its place.
  const auto log_rest = [&](double weight) { return log(std::max(1 - weight, 1e-300)); };
  const DoubleDouble share =
      (log_rest(level) - log_rest(a.weight)) / (log_rest(b.weight) - log_rest(a.weight));
  return plain::exp(log(a.d) + share * (log(b.d) - log(a.d))).high;
}

// The standard error of what is interpolated between two sizes, whose draws are independent: of ln
// d = ln a.d + share ln(b.d / a.d) the derivatives by the weights are (1 - share) and share times
// ln(b.d / a.d) / (ln((1 - b.weight) / (1 - a.weight)) (1 - weight)).
std::optional<double> interpolation_error(const Point& a, const Point& b, double d) {
  if (!a.std_error || !b.std_error || a.weight >= 1 || b.weight >= 1) return std::nullopt;
  const auto log = [](double number) { return plain::log(DoubleDouble(number)).high; };
  const double width = log(b.d / a.d);
  const double share = log(d / a.d) / width;
  const double slope = width / log((1 - b.weight) / (1 - a.weight));
  const double from_a = (1 - share) * slope / (1 - a.weight) * *a.std_error;
  const double from_b = share * slope / (1 - b.weight) * *b.std_error;
  return d * std::sqrt(from_a * from_a + from_b * from_b);
}

CrossingRow find_crossing(ResultKey family, const std::string& statistic, double level,
                          const std::vector<Point>& points) {
  CrossingRow row{std::move(family),          "top_weight", statistic, level, {}, {}, {},
                  CrossingStatus::kNotReached};
  const auto reached = std::find_if(points.begin(), points.end(),
                                    [&](const Point& point) { return point.weight >= level; });
  if (reached == points.begin()) {
    row.status = CrossingStatus::kBelow;
  } else if (reached != points.end()) {
    row.status = CrossingStatus::kOk;
    row.d = interpolate(*std::prev(reached), *reached, level);
    row.d_std_error = interpolation_error(*std::prev(reached), *reached, *row.d);
  }
  return row;
}

ResultKey family_of(ResultKey key) {
  key.d = std::nullopt;
  return key;
}

void add_family(const ResultKey& family, const std::vector<const ResultRow*>& rows,
                std::vector<CrossingRow>& crossings) {
  const std::array statistics{
      std::tuple{"mean", &ResultRow::estimate, &ResultRow::std_error},
      std::tuple{"median", &ResultRow::median, &ResultRow::median_std_error}};
  for (const auto& [name, statistic, error] : statistics) {
    std::vector<Point> points;
    for (const ResultRow* row : rows) {
      const auto& weight = row->*statistic;
      if (weight) points.push_back({static_cast<double>(*row->key.d), *weight, row->*error});
    }
    if (points.size() < 2) continue;
    std::ranges::sort(points, {}, &Point::d);
    for (const double level : kLevels) {
      crossings.push_back(find_crossing(family, name, level, points));
    }
  }
}

}  // namespace

std::vector<CrossingRow> find_crossings(const std::vector<ResultRow>& rows) {
  std::vector<std::pair<ResultKey, std::vector<const ResultRow*>>> families;
  std::map<ResultKey, std::size_t> places;
  for (const ResultRow& row : rows) {
    if (row.metric != "top_weight" || !row.key.d || row.key.entries.empty()) continue;
    const ResultKey key = family_of(row.key);
    const auto [place, is_new] = places.try_emplace(key, families.size());
    if (is_new) families.emplace_back(key, std::vector<const ResultRow*>());
    families[place->second].second.push_back(&row);
  }
  std::vector<CrossingRow> crossings;
  for (const auto& [key, members] : families) add_family(key, members, crossings);
  return crossings;
}

void add_exact_crossings(const Plan& plan, ExactValues& exact,
                         std::vector<CrossingRow>& crossings) {
  struct Family {
    const Cell* cell;  // any of its sizes
    const Scaling* scaling;
  };
  std::map<ResultKey, Family> families;
  for (const Cell& cell : plan.cells) {
    for (const Scaling& scaling : plan.experiment_of(cell).scalings) {
      families.try_emplace(family_of(key_of(plan, cell, scaling)), Family{&cell, &scaling});
    }
  }
  for (CrossingRow& row : crossings) {
    if (row.statistic != "mean") continue;
    const auto family = families.find(row.key);
    if (family == families.end()) continue;
    row.d_exact = exact.crossing(*family->second.cell, *family->second.scaling, row.level);
  }
}

}  // namespace attnscale
