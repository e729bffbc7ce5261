// The scores of given numbers: read, or computed from queries and keys a few queries at a time, so
// that scores of large files are never all in memory. What a query sees is decided here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "experiment/experiment.h"

namespace attnscale {

std::int64_t head_count(const Given& given);

/// Queries of one head.
std::int64_t query_count(const Given& given);

/// Numbers in one query, if the experiment says how many.
std::optional<std::int64_t> size_of(const Given& given);

/// The head of keys or values that a head of queries uses: as models share them, query head h uses
/// head h / (query heads / heads).
std::int64_t shared_head(const Given& given, const GivenMatrix& shared, std::int64_t head);

/// How many keys a query of any head is scored against: with `causal` query i of n sees the first
/// i + 1 + (keys - n), so that the last one sees all.
std::int64_t visible_keys(const Given& given, std::int64_t query);

/// The most keys that any query sees.
std::int64_t most_visible_keys(const Given& given);

/// One query's scores against the keys it sees, and if queries and keys are given, their squared
/// norms and the sums of their entries.
struct QueryScores {
  std::span<const double> scores = {};
  std::span<const double> squared_query_norm = {};  ///< one number
  std::span<const double> squared_key_norms = {};
  std::span<const double> query_sum = {};  ///< one number
  std::span<const double> key_sums = {};
  std::span<const std::int64_t> keys = {};  ///< which they are; empty if they are the first ones

  std::int64_t key(std::size_t place) const {
    return keys.empty() ? static_cast<std::int64_t>(place) : keys[place];
  }
};

/// Scores (raw) of one query after another.
class GivenScores {
 public:
  /// `given` must outlive this.
  explicit GivenScores(const Given& given) : given_(given) {}

  /// What a query sees, until the next call. Queries are computed in groups: it is fastest to ask
  /// for them in order. Every sum goes over components in order, in double precision.
  QueryScores of(std::int64_t head, std::int64_t query);

 private:
  static constexpr std::size_t kGroup = 8;  // enough to share the reading of a key

  void score_group(std::int64_t head, std::int64_t first_query);
  void read_queries(std::int64_t queries);

  const Given& given_;
  std::int64_t head_ = -1;
  std::int64_t first_query_ = 0;
  std::vector<double> row_;
  std::vector<std::int64_t> seen_;           // keys whose given scores are not -inf
  std::vector<double> queries_;              // [component * kGroup + query of the group]
  std::vector<std::vector<double>> scores_;  // of each query of the group
  std::vector<double> squared_query_norms_;
  std::vector<double> squared_key_norms_;
  std::vector<double> query_sums_;
  std::vector<double> key_sums_;
};

}  // namespace attnscale
