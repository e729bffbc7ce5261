#include "estimate/difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace attnscale {
namespace {

using LineName = std::pair<ResultKey, std::string>;

LineName line_name(const ResultRow& row) {
  LineName name(row.key, row.metric);
  name.first.run.clear();
  name.first.seed = 0;
  return name;
}

DifferenceRow difference_of(const ResultRow& a, const ResultRow& b, const Shared& shared) {
  DifferenceRow row;
  row.key = a.key;
  row.metric = a.metric;
  row.a = a.estimate;
  row.a_std_error = a.std_error;
  row.b = b.estimate;
  row.b_std_error = b.std_error;
  row.shared = shared.name;
  if (!a.estimate || !b.estimate) return row;
  row.difference = *b.estimate - *a.estimate;
  if (shared.correlation == 1) {
    row.std_error = 0;
  } else if (a.std_error && b.std_error) {
    const double of_a = *a.std_error;
    const double of_b = *b.std_error;
    row.std_error = std::sqrt(of_a * of_a + of_b * of_b - 2 * shared.correlation * of_a * of_b);
    row.z = *row.difference / *row.std_error;
  }
  return row;
}

double distance(const DifferenceRow& row) {
  if (row.z) return std::abs(*row.z);
  if (!row.difference || *row.difference == 0) return row.difference ? 0 : -1;
  return row.a_std_error ? std::abs(*row.difference / *row.a_std_error)
                         : std::numeric_limits<double>::infinity();
}

}  // namespace

std::optional<double> correlation(std::span<const std::pair<double, double>> pairs) {
  const auto count = static_cast<double>(pairs.size());
  double mean_a = 0;
  double mean_b = 0;
  for (const auto& [a, b] : pairs) {
    mean_a += a / count;
    mean_b += b / count;
  }
  double squares_a = 0;
  double squares_b = 0;
  double products = 0;
  for (const auto& [a, b] : pairs) {
    squares_a += (a - mean_a) * (a - mean_a);
    squares_b += (b - mean_b) * (b - mean_b);
    products += (a - mean_a) * (b - mean_b);
  }
  if (squares_a == 0 || squares_b == 0) return std::nullopt;
  return std::clamp(products / std::sqrt(squares_a * squares_b), -1.0, 1.0);
}

Differences differences(
    std::span<const ResultRow> a, std::span<const ResultRow> b,
    const std::function<Shared(const ResultRow& a, const ResultRow& b)>& shared) {
  std::map<LineName, const ResultRow*> of_b;
  for (const ResultRow& row : b) of_b[line_name(row)] = &row;
  Differences found;
  for (const ResultRow& row : a) {
    const auto other = of_b.find(line_name(row));
    if (other == of_b.end()) {
      ++found.only_a;
    } else {
      found.rows.push_back(difference_of(row, *other->second, shared(row, *other->second)));
    }
  }
  found.only_b = b.size() - found.rows.size();
  std::ranges::stable_sort(found.rows, std::ranges::greater(), distance);
  return found;
}

}  // namespace attnscale
