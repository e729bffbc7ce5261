#include "estimate/difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace attnscale {
namespace {

using LineName = std::pair<ResultKey, std::string>;

LineName line_name(const ResultRow& row) {
  LineName name(row.key, row.metric);
  name.first.run.clear();
  name.first.seed = 0;
  return name;
}

DifferenceRow difference_of(const ResultRow& a, const ResultRow& b, SharedDraws shared) {
  DifferenceRow row;
  row.key = a.key;
  row.metric = a.metric;
  row.a = a.estimate;
  row.a_std_error = a.std_error;
  row.b = b.estimate;
  row.b_std_error = b.std_error;
  row.shared = name_of(shared);
  if (!a.estimate || !b.estimate) return row;
  row.difference = *b.estimate - *a.estimate;
  if (shared == SharedDraws::kLogits) {
    row.std_error = 0;
  } else if (a.std_error && b.std_error) {
    const double of_a = *a.std_error;
    const double of_b = *b.std_error;
    row.std_error =
        shared == SharedDraws::kQueries ? of_a + of_b : std::sqrt(of_a * of_a + of_b * of_b);
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

std::string name_of(SharedDraws shared) {
  if (shared == SharedDraws::kNone) return "none";
  return shared == SharedDraws::kQueries ? "queries" : "logits";
}

Differences differences(
    std::span<const ResultRow> a, std::span<const ResultRow> b,
    const std::function<SharedDraws(const ResultRow& a, const ResultRow& b)>& shared) {
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
