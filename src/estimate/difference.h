// The same lines of two runs, and how far apart they are. Knows rows, not how they were drawn.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "experiment/result_row.h"

namespace attnscale {

/// What the numbers of a line of two runs share, and so how their errors go together.
struct Shared {
  std::string name = "none";  ///< or "queries", "paired", "logits"; "numbers" if they are given
  /// Of both estimates: 0 of other queries; of the same ones that of single queries where it is
  /// known ("paired"), else, or of some the same, -1, the worst ("queries"); 1 of the same logits:
  /// no error is left.
  double correlation = 0;
};

/// Pearson's correlation of pairs; none where either half does not vary.
std::optional<double> correlation(std::span<const std::pair<double, double>> pairs);

/// One line of two runs, A and B. A value that does not exist is empty.
struct DifferenceRow {
  ResultKey key;  ///< of A; `run` and `seed` unused
  std::string metric;
  std::optional<double> a, a_std_error, b, b_std_error;
  std::optional<double> difference;  ///< b - a
  std::optional<double> std_error;  ///< of the difference, as `shared` says; 0 where chance cancels
  std::optional<double> z;          ///< difference / std_error, where there is such an error
  std::string shared;
};

struct Differences {
  std::vector<DifferenceRow> rows;  ///< furthest first
  std::size_t only_a = 0, only_b = 0;
};

/// Lines with the same experiment, entries, d, keys, scaling and metric. Where chance cancels, or
/// there is no error, a line is as far as its difference in errors of A, or without them before all
/// others.
Differences differences(
    std::span<const ResultRow> a, std::span<const ResultRow> b,
    const std::function<Shared(const ResultRow& a, const ResultRow& b)>& shared);

}  // namespace attnscale
