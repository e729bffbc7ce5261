#include "audit/head_order.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace attnscale {
namespace {

HeadMap repeated(const AuditTensors& t) {
  const std::int64_t share = t.queries.heads_per_batch / t.keys.heads_per_batch;
  return [share, &t](std::int64_t head) {
    const std::int64_t batch = head / t.queries.heads_per_batch;
    return batch * t.keys.heads_per_batch + head % t.queries.heads_per_batch / share;
  };
}

HeadMap tiled(const AuditTensors& t) {
  return [&t](std::int64_t head) {
    const std::int64_t batch = head / t.queries.heads_per_batch;
    return batch * t.keys.heads_per_batch +
           head % t.queries.heads_per_batch % t.keys.heads_per_batch;
  };
}

double residual_with(const AuditTensors& t, const HeadMap& map) {
  constexpr std::int64_t kFewRows = 16;
  PooledResidual pooled;
  for (std::int64_t head = 0; head < t.queries.heads; ++head) {
    const HeadCells cells = head_cells(t, head, map(head), kFewRows);
    pooled.add(fit_line(cells.cells, cells.cells.scores));
  }
  return pooled.value();
}

// The best head of keys for each of queries, where neither usual order is right.
HeadMap matched(const AuditTensors& t, double residual, HeadOrder& audit) {
  constexpr std::int64_t kFewRows = 8;
  constexpr std::int64_t kMostPairs = 4096;
  const HeadMap usual = repeated(t);
  if (t.keys.heads == 1 || t.queries.heads * t.keys.heads_per_batch > kMostPairs) return usual;
  std::vector<std::int64_t> best(static_cast<std::size_t>(t.queries.heads));
  PooledResidual pooled;
  for (std::int64_t head = 0; head < t.queries.heads; ++head) {
    const std::int64_t first = head / t.queries.heads_per_batch * t.keys.heads_per_batch;
    LineFit nearest;
    nearest.residual = std::numeric_limits<double>::infinity();
    for (std::int64_t key = first; key < first + t.keys.heads_per_batch; ++key) {
      const HeadCells cells = head_cells(t, head, key, kFewRows);
      const LineFit fit = fit_line(cells.cells, cells.cells.scores);
      if (fit.residual >= nearest.residual) continue;
      nearest = fit;
      best[static_cast<std::size_t>(head)] = key;
    }
    pooled.add(nearest);
  }
  if (pooled.value() > residual / 3) return usual;
  std::string pairs;
  for (std::size_t head = 0; head < std::min<std::size_t>(best.size(), 8); ++head) {
    pairs += fmt::format("{}{}: {}", head == 0 ? "" : ", ", head, best[head]);
  }
  audit.finding = (fmt::format("heads in another order: query heads use the key heads {}{}", pairs,
                               best.size() > 8 ? ", ..." : ""));
  return [best](std::int64_t head) { return best[static_cast<std::size_t>(head)]; };
}

}  // namespace

void PooledResidual::add(const LineFit& fit) {
  squares += fit.residual * fit.residual * fit.count;
  count += fit.count;
}

double PooledResidual::value() const {
  return count > 0 ? std::sqrt(squares / count) : 0;
}

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
  const HeadMap usual = repeated(t);
  audit.key_head = usual;
  const double residual = residual_with(t, usual);
  if (residual < good_residual) return audit;
  if (share > 1 && keys > 1) {
    const HeadMap other = tiled(t);
    if (residual_with(t, other) < residual / 2) {
      audit.finding =
          ("shared key heads in the wrong order: tiled (head h uses h mod " + std::to_string(keys) +
           ") in place of repeated (h / " + std::to_string(share) + ")");
      audit.key_head = other;
      return audit;
    }
  }
  audit.key_head = matched(t, residual, audit);
  return audit;
}

}  // namespace attnscale
