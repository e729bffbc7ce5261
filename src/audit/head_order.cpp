#include "audit/head_order.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

namespace attnscale {
namespace {

using Places = std::vector<HeadPlaces>;

constexpr std::int64_t kFewRows = 16;

// The place of each head of queries by what `key_head` says within its batch.
template <typename KeyHead>
Places places(const AuditTensors& t, const KeyHead& key_head) {
  Places all;
  for (std::int64_t head = 0; head < t.queries.heads; ++head) {
    const std::int64_t batch = head / t.queries.heads_per_batch;
    const std::int64_t keys =
        batch * t.keys.heads_per_batch + key_head(head % t.queries.heads_per_batch);
    all.push_back({head, keys, head});
  }
  return all;
}

LineFit fit_of(const AuditTensors& t, const HeadPlaces& heads, std::int64_t rows) {
  return fit_line(head_cells(t, heads, rows).cells);
}

PooledFits fits_of(const AuditTensors& t, const Places& all) {
  PooledFits pooled;
  for (const HeadPlaces& heads : all) pooled.add(fit_of(t, heads, kFewRows));
  return pooled;
}

// The best of the `count` heads of its batch as the `head_of` each of the usual places. Empty if
// that is not far better, or if one of as many heads is taken twice.
template <typename HeadOf>
Places best_of(const AuditTensors& t, Places all, std::int64_t count, const HeadOf& head_of) {
  constexpr std::int64_t kMostPairs = 4096;
  constexpr double kFewestToTell = 8;  // weights of a head
  if (count == 1 || t.queries.heads * count > kMostPairs) return {};
  const Places usual = all;
  PooledFits pooled, before;
  for (HeadPlaces& heads : all) {
    const std::int64_t first = heads.queries / t.queries.heads_per_batch * count;
    HeadPlaces tried = heads;
    before.add(fit_of(t, heads, kFewRows / 2));
    LineFit nearest;
    nearest.residual = std::numeric_limits<double>::infinity();
    for (std::int64_t other = first; other < first + count; ++other) {
      head_of(tried) = other;
      const LineFit fit = fit_of(t, tried, kFewRows / 2);
      if (fit.count < kFewestToTell || fit.residual >= nearest.residual) continue;
      nearest = fit;
      heads = tried;
    }
    if (nearest.count == 0) return {};
    pooled.add(nearest);
  }
  if (pooled.residual() > before.residual() / 3 || all == usual) return {};
  std::set<std::int64_t> taken;
  for (HeadPlaces& heads : all) taken.insert(head_of(heads));
  const bool are_as_many = count == t.queries.heads_per_batch;
  return are_as_many && taken.size() < all.size() ? Places() : all;
}

// "0: 3, 1: 2, ..."
template <typename HeadOf>
std::string pairs_text(Places all, const HeadOf& head_of) {
  std::string pairs;
  constexpr std::size_t kMost = 8;
  for (std::size_t i = 0; i < std::min(all.size(), kMost); ++i) {
    pairs += fmt::format("{}{}: {}", i == 0 ? "" : ", ", all[i].queries, head_of(all[i]));
  }
  return pairs + (all.size() > kMost ? ", ..." : "");
}

}  // namespace

HeadOrder find_head_order(const AuditTensors& t, double good_residual) {
  HeadOrder audit;
  const std::int64_t queries = t.queries.heads_per_batch;
  const std::int64_t keys = t.keys.heads_per_batch;
  const std::int64_t share = queries / keys;
  audit.words =
      fmt::format("{} {} of {}", queries, queries == 1 ? "head" : "heads", t.queries.columns);
  if (t.queries.batches() > 1) {
    audit.words = fmt::format("{} batches of {}", t.queries.batches(), audit.words);
  }
  if (share > 1) {
    audit.words += fmt::format(", {} key heads, each shared by {}", keys, share);
  }
  audit.heads = places(t, [share](std::int64_t head) { return head / share; });
  const PooledFits usual = fits_of(t, audit.heads);
  if (usual.residual() < std::min(good_residual, 0.5 * usual.spread())) return audit;
  if (share > 1 && keys > 1) {
    Places tiled = places(t, [keys](std::int64_t head) { return head % keys; });
    if (fits_of(t, tiled).residual() < usual.residual() / 2) {
      audit.finding = fmt::format(
          "shared key heads in the wrong order: tiled (head h uses h mod {}) in place of repeated "
          "(h / {})",
          keys, share);
      audit.heads = std::move(tiled);
      return audit;
    }
  }
  const auto take = [&](Places found, const auto& head_of, std::string_view what) {
    if (found.empty()) return false;
    audit.finding = fmt::format("heads in another order: {} {}", what, pairs_text(found, head_of));
    audit.heads = std::move(found);
    return true;
  };
  const auto key_head = [](HeadPlaces& heads) -> std::int64_t& { return heads.keys; };
  const auto answer_head = [](HeadPlaces& heads) -> std::int64_t& { return heads.answers; };
  if (!take(best_of(t, audit.heads, keys, key_head), key_head, "query heads use the key heads")) {
    take(best_of(t, audit.heads, queries, answer_head), answer_head,
         t.are_weights ? "query heads have their weights in the heads"
                       : "query heads have their scores in the heads");
  }
  return audit;
}

}  // namespace attnscale
