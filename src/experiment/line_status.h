// What is to be said of a line beside its numbers: one row each of two tables.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace attnscale {

/// Of a line of summary.csv. In order: a line pooled from several has the last of theirs.
enum class LineStatus {
  kDegenerate,
  kOk,
  kConverged,
  kMaxQueries,
  kRare,
  kSomeNonfinite,
  kNoMoment,
  kNonfinite
};

/// Of a line of crossings.csv.
enum class CrossingStatus { kOk, kBelow, kNotReached };

struct StatusRow {
  std::string_view name;   ///< as in the file
  std::string_view means;  ///< for a note on screen; empty if it needs none
};

/// In the order of the enum.
inline constexpr std::array<StatusRow, 8> kLineStatuses{{
    {"degenerate", "all numbers are equal"},
    {"ok", ""},
    {"converged", ""},
    {"max_queries", ""},
    {"rare", "few queries or scores decide the number; it has no interval"},
    {"some_nonfinite", "of the finite queries alone; others overflowed and are left out"},
    {"no_moment", "the law has no such moment; any number of a sample grows"},
    {"nonfinite", "a score, logit or weight overflowed or is not a number"},
}};
inline constexpr std::array<StatusRow, 3> kCrossingStatuses{{
    {"ok", ""},
    {"below", "already reached at the smallest d"},
    {"not_reached", "not at the largest d"},
}};

constexpr const auto& status_rows(LineStatus /*status*/) {
  return kLineStatuses;
}
constexpr const auto& status_rows(CrossingStatus /*status*/) {
  return kCrossingStatuses;
}

template <typename Status>
constexpr std::string_view name_of(Status status) requires requires {
  status_rows(status);
}
{ return status_rows(status)[static_cast<std::size_t>(status)].name; }

}  // namespace attnscale
