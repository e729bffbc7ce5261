// The same lines of two runs, and how far apart they are. Knows rows, not how they were drawn.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/result_row.h"

namespace attnscale {

/// What the numbers of a line of two runs share.
enum class SharedDraws {
  kNone,     ///< the queries differ: errors add up as squares
  kQueries,  ///< the same queries, other logits: the error is at most the sum of both
  kLogits,   ///< the same queries and logits: chance cancels, and no error is left
};

/// "none", "queries" or "logits".
std::string name_of(SharedDraws shared);

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
    const std::function<SharedDraws(const ResultRow& a, const ResultRow& b)>& shared);

}  // namespace attnscale
