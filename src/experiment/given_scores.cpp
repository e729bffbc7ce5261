#include "experiment/given_scores.h"

#include <algorithm>
#include <array>
#include <limits>

namespace attnscale {
namespace {

// Scores, or the queries: what there is one row of for every query.
const GivenMatrix& rows_of_queries(const Given& given) {
  return given.scores.empty() ? given.queries : given.scores;
}

}  // namespace

std::int64_t head_count(const Given& given) {
  return rows_of_queries(given).heads();
}

std::int64_t query_count(const Given& given) {
  return rows_of_queries(given).row_count();
}

std::optional<std::int64_t> size_of(const Given& given) {
  return given.scores.empty() ? given.queries.columns(0) : given.d;
}

std::int64_t shared_head(const Given& given, const GivenMatrix& shared, std::int64_t head) {
  return head / (head_count(given) / shared.heads());
}

std::int64_t visible_keys(const Given& given, std::int64_t query) {
  const std::int64_t keys =
      given.scores.empty() ? given.keys.row_count() : given.scores.columns(query);
  return given.causal ? query + 1 + (keys - query_count(given)) : keys;
}

std::int64_t most_visible_keys(const Given& given) {
  return given.scores.empty() ? given.keys.row_count() : given.scores.most_columns();
}

QueryScores GivenScores::of(std::int64_t head, std::int64_t query) {
  const auto visible = static_cast<std::size_t>(visible_keys(given_, query));
  if (!given_.scores.empty()) {
    given_.scores.read_row(head, query, row_);
    // A score of -inf hides its key.
    seen_.clear();
    for (std::size_t key = 0; key < visible; ++key) {
      if (row_[key] == -std::numeric_limits<double>::infinity()) continue;
      row_[seen_.size()] = row_[key];
      seen_.push_back(static_cast<std::int64_t>(key));
    }
    return {.scores = std::span<const double>(row_).first(seen_.size()), .keys = seen_};
  }
  constexpr auto kSize = static_cast<std::int64_t>(kGroup);
  const std::int64_t first_query = query / kSize * kSize;
  if (head != head_ || first_query != first_query_) score_group(head, first_query);
  const auto place = static_cast<std::size_t>(query - first_query);
  return {std::span<const double>(scores_[place]).first(visible),
          std::span<const double>(squared_query_norms_).subspan(place, 1),
          std::span<const double>(squared_key_norms_).first(visible),
          std::span<const double>(query_sums_).subspan(place, 1),
          std::span<const double>(key_sums_).first(visible),
          {}};
}

// Each key is read once, against all queries of the group.
void GivenScores::score_group(std::int64_t head, std::int64_t first_query) {
  head_ = head;
  first_query_ = first_query;
  const std::int64_t queries =
      std::min(static_cast<std::int64_t>(kGroup), query_count(given_) - first_query);
  read_queries(queries);
  const auto keys = static_cast<std::size_t>(visible_keys(given_, first_query + queries - 1));
  scores_.resize(kGroup);
  for (auto& scores : scores_) scores.resize(keys);
  squared_key_norms_.resize(keys);
  key_sums_.resize(keys);
  const std::int64_t key_head = shared_head(given_, given_.keys, head);
  for (std::size_t key = 0; key < keys; ++key) {
    given_.keys.read_row(key_head, static_cast<std::int64_t>(key), row_);
    std::array<double, kGroup> sums{};
    double square = 0;
    double entries = 0;
    for (std::size_t i = 0; i < row_.size(); ++i) {
      for (std::size_t q = 0; q < kGroup; ++q) sums[q] += queries_[i * kGroup + q] * row_[i];
      square += row_[i] * row_[i];
      entries += row_[i];
    }
    for (std::size_t q = 0; q < kGroup; ++q) scores_[q][key] = sums[q];
    squared_key_norms_[key] = square;
    key_sums_[key] = entries;
  }
}

// The group's queries side by side, zeros where it is not full.
void GivenScores::read_queries(std::int64_t queries) {
  const auto d = static_cast<std::size_t>(given_.queries.columns(0));
  queries_.assign(d * kGroup, 0.0);
  squared_query_norms_.assign(kGroup, 0.0);
  query_sums_.assign(kGroup, 0.0);
  for (std::size_t q = 0; q < static_cast<std::size_t>(queries); ++q) {
    given_.queries.read_row(head_, first_query_ + static_cast<std::int64_t>(q), row_);
    for (std::size_t i = 0; i < d; ++i) {
      queries_[i * kGroup + q] = row_[i];
      squared_query_norms_[q] += row_[i] * row_[i];
      query_sums_[q] += row_[i];
    }
  }
}

}  // namespace attnscale
