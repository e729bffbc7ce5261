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
  const std::int64_t heads = rows_of_queries(given).heads_per_batch();
  const std::int64_t batch = shared.batches() == 1 ? 0 : head / heads;
  return batch * shared.heads_per_batch() + head % heads / (heads / shared.heads_per_batch());
}

std::int64_t place_of(const Given& given, std::int64_t query) {
  return query + all_keys(given) - query_count(given);
}

KeyRange keys_by_place(const Given& given, std::int64_t query) {
  KeyRange range{0, given.scores.empty() ? given.keys.row_count() : given.scores.columns(query)};
  const std::int64_t place = place_of(given, query);
  if (given.causal) range.end = place + 1;
  if (given.window) {
    range.first = std::max<std::int64_t>(0, place - *given.window + 1);
    range.end = std::min(range.end, place + *given.window);
  }
  return range;
}

std::int64_t all_keys(const Given& given) {
  return given.scores.empty() ? given.keys.row_count() : given.scores.most_columns();
}

bool hides_by_numbers(const Given& given) {
  return !given.mask.empty() || !given.bias.empty() || !given.scores.empty();
}

std::span<const std::int64_t> SeenKeys::of(std::int64_t head, std::int64_t query) {
  const auto read = [&](const GivenMatrix& matrix, std::vector<double>& row) {
    if (matrix.empty()) return;
    matrix.read_row(shared_head(given_, matrix, head), matrix.row_count() == 1 ? 0 : query, row);
  };
  read(given_.mask, mask_row_);
  read(given_.bias, bias_row_);
  if (!given_.scores.empty()) given_.scores.read_row(head, query, score_row_);
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  const double masked = given_.masked_below.value_or(kNever);
  const double least_mask = given_.mask_adds ? given_.masked_below.value_or(kMaskedBelow) : 0;
  keys_.clear();
  scores_.clear();
  biases_.clear();
  const KeyRange range = keys_by_place(given_, query);
  const std::int64_t all = given_.scores.empty() ? given_.keys.row_count() : std::ssize(score_row_);
  hidden_.by_place += all - range.count();
  for (std::int64_t key = range.first; key < range.end; ++key) {
    const auto k = static_cast<std::size_t>(key);
    if (!given_.mask.empty() && mask_row_[k] <= least_mask) {
      ++hidden_.by_mask;
    } else if (!given_.scores.empty() && score_row_[k] <= masked) {
      ++hidden_.by_score;
    } else if (!given_.bias.empty() && bias_row_[k] <= masked) {
      ++hidden_.by_bias;
    } else {
      keys_.push_back(key);
      if (!given_.scores.empty()) scores_.push_back(score_row_[k]);
      if (!given_.bias.empty()) biases_.push_back(bias_row_[k]);
    }
  }
  return keys_;
}

std::vector<std::int64_t> seen_counts(const Given& given) {
  std::vector<std::int64_t> counts;
  SeenKeys seen(given);
  const bool by_numbers = hides_by_numbers(given);
  for (std::int64_t head = 0; head < (by_numbers ? head_count(given) : 1); ++head) {
    for (std::int64_t query = 0; query < query_count(given); ++query) {
      counts.push_back(by_numbers ? std::ssize(seen.of(head, query))
                                  : keys_by_place(given, query).count());
    }
  }
  return counts;
}

QueryScores GivenScores::of(std::int64_t head, std::int64_t query) {
  QueryScores found;
  found.keys = seen_.of(head, query);
  found.biases = seen_.biases();
  if (!given_.scores.empty()) {
    found.scores = seen_.scores();
    return found;
  }
  constexpr auto kSize = static_cast<std::int64_t>(kGroup);
  const std::int64_t first_query = query / kSize * kSize;
  if (head != head_ || first_query != first_query_) score_group(head, first_query);
  const auto place = static_cast<std::size_t>(query - first_query);
  const auto take = [&](const std::vector<double>& all, std::vector<double>& seen) {
    seen.clear();
    for (const std::int64_t key : found.keys) {
      seen.push_back(all[static_cast<std::size_t>(key - first_key_)]);
    }
    return std::span<const double>(seen);
  };
  found.scores = take(scores_[place], seen_scores_);
  found.squared_key_norms = take(squared_key_norms_, seen_norms_);
  found.key_sums = take(key_sums_, seen_sums_);
  found.squared_query_norm = std::span<const double>(squared_query_norms_).subspan(place, 1);
  found.query_sum = std::span<const double>(query_sums_).subspan(place, 1);
  return found;
}

// Each key is read once, against all queries of the group.
void GivenScores::score_group(std::int64_t head, std::int64_t first_query) {
  head_ = head;
  first_query_ = first_query;
  const std::int64_t queries =
      std::min(static_cast<std::int64_t>(kGroup), query_count(given_) - first_query);
  read_queries(queries);
  first_key_ = keys_by_place(given_, first_query).first;
  const std::int64_t end = keys_by_place(given_, first_query + queries - 1).end;
  const auto keys = static_cast<std::size_t>(std::max(end - first_key_, std::int64_t{0}));
  scores_.resize(kGroup);
  for (auto& scores : scores_) scores.resize(keys);
  squared_key_norms_.resize(keys);
  key_sums_.resize(keys);
  const std::int64_t key_head = shared_head(given_, given_.keys, head);
  for (std::size_t key = 0; key < keys; ++key) {
    given_.keys.read_row(key_head, first_key_ + static_cast<std::int64_t>(key), row_);
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
