// The scores of given numbers: read, or computed from queries and keys a few queries at a time, so
// that scores of large files are never all in memory. What a query sees is decided here.
#pragma once

#include <algorithm>
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

/// Where a query of any head stands among the keys: the last query stands where the last key does.
std::int64_t place_of(const Given& given, std::int64_t query);

/// Keys one after another.
struct KeyRange {
  std::int64_t first = 0;
  std::int64_t end = 0;

  std::int64_t count() const { return std::max<std::int64_t>(0, end - first); }
};

/// The keys that a query of any head may see by where it stands: with `causal` those up to its own
/// place, with `window` those fewer than so many places away.
KeyRange keys_by_place(const Given& given, std::int64_t query);

/// The keys of a head, the most that any query is scored against.
std::int64_t all_keys(const Given& given);

/// How many keys of all queries and heads are hidden, by what hides them first.
struct HiddenKeys {
  std::int64_t by_place = 0;
  std::int64_t by_mask = 0;
  std::int64_t by_score = 0;  ///< -inf, or masked_below
  std::int64_t by_bias = 0;   ///< the same
};

/// True if numbers hide keys, not places alone.
bool hides_by_numbers(const Given& given);

/// Which keys each query sees.
class SeenKeys {
 public:
  /// `given` must outlive this.
  explicit SeenKeys(const Given& given) : given_(given) {}

  /// The keys of a query, in order, until the next call.
  std::span<const std::int64_t> of(std::int64_t head, std::int64_t query);

  /// Of these keys the scores, if they are given, and the biases.
  std::span<const double> scores() const { return scores_; }
  std::span<const double> biases() const { return biases_; }

  /// In all queries so far.
  const HiddenKeys& hidden() const { return hidden_; }

 private:
  const Given& given_;
  std::vector<double> mask_row_;
  std::vector<double> score_row_;
  std::vector<double> bias_row_;
  std::vector<std::int64_t> keys_;
  std::vector<double> scores_;
  std::vector<double> biases_;
  HiddenKeys hidden_;
};

/// How many keys each query sees: of every head, or of one if all heads see the same.
std::vector<std::int64_t> seen_counts(const Given& given);

/// One query's scores against the keys it sees, and if queries and keys are given, their squared
/// norms and the sums of their entries.
struct QueryScores {
  std::span<const double> scores = {};
  std::span<const double> squared_query_norm = {};  ///< one number
  std::span<const double> squared_key_norms = {};
  std::span<const double> query_sum = {};  ///< one number
  std::span<const double> key_sums = {};
  std::span<const double> biases = {};      ///< empty if none are given
  std::span<const std::int64_t> keys = {};  ///< which they are
};

/// Queries of one head whose scores are computed together.
struct QueryGroup {
  std::int64_t head = -1;
  std::int64_t first = 0;
  std::int64_t end = 0;

  friend bool operator==(const QueryGroup&, const QueryGroup&) = default;
};

/// All queries, head by head.
std::vector<QueryGroup> query_groups(const Given& given);

/// Scores (raw) of one query after another.
class GivenScores {
 public:
  /// `given` must outlive this. A rule is for queries and keys, and does not quantise with one
  /// scale for all keys.
  explicit GivenScores(const Given& given, const ProductRule& rule = {})
      : given_(given), rule_(rule), seen_(given) {}

  /// What a query sees, until the next call. Queries are computed in groups: it is fastest to ask
  /// for them in order. Every sum goes over components in order, in double precision; scores by
  /// fused multiply-adds, or where the rule rounds sums by products added and rounded. Norms and
  /// sums are of rounded numbers.
  QueryScores of(std::int64_t head, std::int64_t query);

 private:
  void score_group(const QueryGroup& group);
  void read_queries();
  void read_panel(std::size_t first_key);
  void quantise_row();
  void add_up_block(std::span<const double> queries, double* scores);

  const Given& given_;
  ProductRule rule_;
  SeenKeys seen_;
  QueryGroup group_;
  std::int64_t first_key_ = 0;  // that it sees, and how many
  std::size_t keys_ = 0;
  std::vector<double> row_;
  std::vector<double> seen_scores_;  // and what belongs to them, of the keys that a query sees
  std::vector<double> seen_norms_;
  std::vector<double> seen_sums_;
  std::vector<double> queries_;   // block by block, as the kernel takes them
  std::vector<double> panel_;     // of keys
  std::vector<double> repeated_;  // a query's numbers, once for each key of a panel
  std::vector<double> scores_;    // [query of the group * stride_ + key]
  std::size_t stride_ = 0;
  std::vector<double> squared_query_norms_;
  std::vector<double> squared_key_norms_;
  std::vector<double> query_sums_;
  std::vector<double> key_sums_;
};

}  // namespace attnscale
