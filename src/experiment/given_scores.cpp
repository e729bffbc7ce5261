#include "experiment/given_scores.h"

#include <array>
#include <limits>
#include <numeric>

#include "numerics/score_panel.h"

namespace attnscale {
namespace {

// Scores, or the queries: what there is one row of for every query.
const GivenMatrix& rows_of_queries(const Given& given) {
  return given.scores.empty() ? given.queries : given.scores;
}

// So many that reading a key costs little beside scoring it, unless their scores take too much
// memory.
std::int64_t queries_of_group(const Given& given) {
  constexpr std::int64_t kMostBlocks = 42;
  constexpr std::int64_t kMostScores = std::int64_t{1} << 20;
  constexpr auto kBlock = static_cast<std::int64_t>(kBlockQueries);
  const std::int64_t blocks = kMostScores / all_keys(given) / kBlock;
  return std::clamp(blocks, std::int64_t{1}, kMostBlocks) * kBlock;
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
  if (!hides_by_numbers(given_)) {
    keys_.resize(static_cast<std::size_t>(range.count()));
    std::iota(keys_.begin(), keys_.end(), range.first);
    return keys_;
  }
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

std::vector<QueryGroup> query_groups(const Given& given) {
  const std::int64_t size = queries_of_group(given);
  std::vector<QueryGroup> groups;
  for (std::int64_t head = 0; head < head_count(given); ++head) {
    for (std::int64_t first = 0; first < query_count(given); first += size) {
      groups.push_back({head, first, std::min(first + size, query_count(given))});
    }
  }
  return groups;
}

QueryScores GivenScores::of(std::int64_t head, std::int64_t query) {
  QueryScores found;
  found.keys = seen_.of(head, query);
  found.biases = seen_.biases();
  if (!given_.scores.empty()) {
    found.scores = seen_.scores();
    return found;
  }
  const std::int64_t size = queries_of_group(given_);
  const std::int64_t first = query / size * size;
  const QueryGroup group{head, first, std::min(first + size, query_count(given_))};
  if (group != group_) score_group(group);
  const auto place = static_cast<std::size_t>(query - first);
  const bool are_in_a_row = found.keys.back() - found.keys.front() == std::ssize(found.keys) - 1;
  const auto take = [&](const double* all, std::vector<double>& seen) {
    if (are_in_a_row) {
      return std::span(all + (found.keys.front() - first_key_), found.keys.size());
    }
    seen.clear();
    for (const std::int64_t key : found.keys) seen.push_back(all[key - first_key_]);
    return std::span<const double>(seen);
  };
  found.scores = take(scores_.data() + place * stride_, seen_scores_);
  found.squared_key_norms = take(squared_key_norms_.data(), seen_norms_);
  found.key_sums = take(key_sums_.data(), seen_sums_);
  found.squared_query_norm = std::span<const double>(squared_query_norms_).subspan(place, 1);
  found.query_sum = std::span<const double>(query_sums_).subspan(place, 1);
  return found;
}

// Each panel of keys is read once, against all queries of the group that may see one of them.
void GivenScores::score_group(const QueryGroup& group) {
  group_ = group;
  read_queries();
  first_key_ = keys_by_place(given_, group.first).first;
  keys_ = static_cast<std::size_t>(keys_by_place(given_, group.end - 1).end - first_key_);
  stride_ = (keys_ + kPanelKeys - 1) / kPanelKeys * kPanelKeys;
  const auto d = static_cast<std::size_t>(given_.queries.columns(0));
  const std::size_t blocks = queries_.size() / (d * kBlockQueries);
  scores_.resize(blocks * kBlockQueries * stride_);
  squared_key_norms_.resize(stride_);
  key_sums_.resize(stride_);
  for (std::size_t first = 0; first < stride_; first += kPanelKeys) {
    read_panel(first);
    const std::int64_t first_of_panel = first_key_ + static_cast<std::int64_t>(first);
    const std::int64_t end_of_panel = first_of_panel + static_cast<std::int64_t>(kPanelKeys);
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::int64_t query = group.first + static_cast<std::int64_t>(block * kBlockQueries);
      const std::int64_t last =
          std::min(query + static_cast<std::int64_t>(kBlockQueries), group.end) - 1;
      if (keys_by_place(given_, query).first >= end_of_panel ||
          keys_by_place(given_, last).end <= first_of_panel) {
        continue;
      }
      const auto size = d * kBlockQueries;
      const auto queries = std::span(queries_).subspan(block * size, size);
      double* const scores = scores_.data() + block * kBlockQueries * stride_ + first;
      if (rule_.sum == Precision::kFloat64) {
        score_panel(queries, panel_, scores, stride_);
      } else {
        add_up_block(queries, scores);
      }
    }
  }
}

// The panel's scores with narrow sums.
void GivenScores::add_up_block(std::span<const double> queries, double* scores) {
  repeated_.resize(panel_.size());
  for (std::size_t query = 0; query < kBlockQueries; ++query) {
    for (std::size_t n = 0; n < repeated_.size(); ++n) {
      repeated_[n] = queries[n / kPanelKeys * kBlockQueries + query];
    }
    add_up_products(rule_.sum, repeated_, panel_, {scores + query * stride_, kPanelKeys});
  }
}

void GivenScores::quantise_row() {
  double largest = 0;
  raise_to_magnitudes(row_, {&largest, 1});
  round_entries(rule_.quantised, {&largest, 1}, row_);
}

// The group's queries, zeros where the last block is not full.
void GivenScores::read_queries() {
  const auto d = static_cast<std::size_t>(given_.queries.columns(0));
  const auto queries = static_cast<std::size_t>(group_.end - group_.first);
  const std::size_t blocks = (queries + kBlockQueries - 1) / kBlockQueries;
  queries_.assign(blocks * kBlockQueries * d, 0.0);
  squared_query_norms_.assign(queries, 0.0);
  query_sums_.assign(queries, 0.0);
  for (std::size_t q = 0; q < queries; ++q) {
    given_.queries.read_row(group_.head, group_.first + static_cast<std::int64_t>(q), row_);
    round_entries(rule_.entries, {}, row_);
    for (double& number : row_) number *= rule_.query_factor;
    round_entries(rule_.scaled_queries, {}, row_);
    quantise_row();
    double* const block = queries_.data() + q / kBlockQueries * kBlockQueries * d;
    for (std::size_t i = 0; i < d; ++i) {
      block[i * kBlockQueries + q % kBlockQueries] = row_[i];
      squared_query_norms_[q] += row_[i] * row_[i];
      query_sums_[q] += row_[i];
    }
  }
}

// The keys from number `first_key` of the group's on, zeros beyond the last.
void GivenScores::read_panel(std::size_t first_key) {
  const auto d = static_cast<std::size_t>(given_.keys.columns(0));
  const std::size_t keys = std::min(kPanelKeys, keys_ - first_key);
  const std::int64_t head = shared_head(given_, given_.keys, group_.head);
  panel_.assign(d * kPanelKeys, 0.0);
  for (std::size_t key = 0; key < keys; ++key) {
    given_.keys.read_row(head, first_key_ + static_cast<std::int64_t>(first_key + key), row_);
    round_entries(rule_.entries, {}, row_);
    quantise_row();
    for (std::size_t i = 0; i < d; ++i) panel_[i * kPanelKeys + key] = row_[i];
  }
  // A key per lane, so that the compiler's vectors change no order of addition.
  std::array<double, kPanelKeys> squares{};
  std::array<double, kPanelKeys> sums{};
  for (std::size_t i = 0; i < d; ++i) {
    const double* const entries = panel_.data() + i * kPanelKeys;
    for (std::size_t key = 0; key < kPanelKeys; ++key) {
      squares[key] += entries[key] * entries[key];
      sums[key] += entries[key];
    }
  }
  const auto place = static_cast<std::ptrdiff_t>(first_key);
  std::ranges::copy(squares, squared_key_norms_.begin() + place);
  std::ranges::copy(sums, key_sums_.begin() + place);
}

}  // namespace attnscale
