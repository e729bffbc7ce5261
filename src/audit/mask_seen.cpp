#include "audit/mask_seen.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace attnscale {
namespace {

using Heads = std::vector<HeadCells>;

// Cells of a kind, and how many of them are shown.
struct Shown {
  std::int64_t all = 0;
  std::int64_t shown = 0;

  void add(bool is_shown) {
    ++all;
    shown += is_shown ? 1 : 0;
  }
  bool are_none() const { return all > 0 && shown == 0; }
};

// What masks are told apart by.
struct MaskCells {
  Shown later;         // keys after the query, if the last query sees all
  Shown own;           // the query's own place, of queries that see others too
  Shown beyond_first;  // keys after the query, if the first query sees one
  Shown within_first;  // the others, under a causal mask
  std::int64_t farthest = 0;
};

MaskCells mask_cells(const Heads& heads) {
  MaskCells found;
  for (const HeadCells& head : heads) {
    const ScoreCells& cells = head.cells;
    for (std::size_t row = 0; row < cells.rows; ++row) {
      for (std::size_t key = 0; key < cells.keys; ++key) {
        const std::size_t i = row * cells.keys + key;
        const bool is_shown = !head.is_zero[i];
        const auto distance = static_cast<std::int64_t>(cells.distance[i]);
        if (is_shown) found.farthest = std::max(found.farthest, distance);
        if (distance < 0) found.later.add(is_shown);
        if (distance == 0 && key > 0) found.own.add(is_shown);
        if (static_cast<std::int64_t>(key) > head.queries[row]) found.beyond_first.add(is_shown);
        if (static_cast<std::int64_t>(key) <= head.queries[row]) found.within_first.add(is_shown);
      }
    }
  }
  return found;
}

// True if most queries that could see a key at the farthest place do: a band, and no accident.
bool is_window(const Heads& heads, std::int64_t farthest) {
  Shown edge;
  for (const HeadCells& head : heads) {
    for (std::size_t i = 0; i < head.is_zero.size(); ++i) {
      if (head.cells.distance[i] == static_cast<double>(farthest)) edge.add(!head.is_zero[i]);
    }
  }
  return 2 * edge.shown > edge.all;
}

// Weights of 0 among the keys that may be seen, where the fit expects more than rounding loses.
Shown holes_of(const Heads& heads, const std::vector<LineFit>& fits, bool are_weights,
               bool is_causal, std::int64_t farthest) {
  const double least = are_weights ? -9.010913347279288 : -1e300;  // ln 2^-13
  Shown holes;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const ScoreCells& cells = heads[h].cells;
    for (std::size_t row = 0; row < cells.rows; ++row) {
      double constant = 0, n = 0;
      for (std::size_t i = row * cells.keys; i < (row + 1) * cells.keys; ++i) {
        if (std::isnan(cells.logits[i])) continue;
        constant += cells.logits[i] - fits[h].factor * cells.scores[i];
        ++n;
      }
      if (n == 0) continue;
      for (std::size_t i = row * cells.keys; i < (row + 1) * cells.keys; ++i) {
        if ((is_causal && cells.distance[i] < 0) ||
            cells.distance[i] > static_cast<double>(farthest)) {
          continue;
        }
        if (constant / n + fits[h].factor * cells.scores[i] < least) continue;
        holes.add(!heads[h].is_zero[i]);
      }
    }
  }
  return holes;
}

}  // namespace

void find_mask(const AuditTensors& tensors, const Heads& heads, const std::vector<LineFit>& fits,
               TensorAudit& audit) {
  const MaskCells cells = mask_cells(heads);
  const bool is_causal = cells.later.are_none();
  const std::int64_t most = tensors.answers.columns - 1;
  const bool has_window = is_causal && cells.farthest < most && tensors.answers.rows > 1 &&
                          is_window(heads, cells.farthest);
  const std::int64_t farthest = has_window ? cells.farthest : most;
  const Shown holes = holes_of(heads, fits, tensors.are_weights, is_causal, farthest);
  audit.mask_words = cells.later.all == 0 ? "one query sees all"
                     : is_causal          ? "causal"
                     : cells.later.shown == cells.later.all
                         ? "none: every query sees later keys too"
                         : fmt::format("not causal: {} of {} later keys are seen",
                                       cells.later.shown, cells.later.all);
  if (has_window) audit.mask_words += fmt::format(", window of {} keys", farthest + 1);
  if (const std::int64_t hidden = holes.all - holes.shown; hidden > 0) {
    audit.mask_words +=
        fmt::format("; {} more keys hidden, {:.3g} % of what may be seen", hidden,
                    100.0 * static_cast<double>(hidden) / static_cast<double>(holes.all));
  }
  const auto find = [&](std::string finding) {
    audit.findings.push_back(std::move(finding));
    audit.is_explained = false;
  };
  if (tensors.causal && cells.later.shown > 0) {
    find(fmt::format(
        "no causal mask, though --causal says so: {} weights above the diagonal are not 0",
        cells.later.shown));
  }
  if (tensors.answers.rows < tensors.answers.columns && cells.beyond_first.are_none() &&
      tensors.answers.rows > 1 && 2 * cells.within_first.shown > cells.within_first.all) {
    find(
        "a causal mask from the wrong corner: the first query sees the first key alone, though "
        "the last one should see all keys");
  } else if (is_causal && cells.own.are_none() && cells.farthest > 0) {
    find("no query sees its own key: the mask hides the diagonal");
  }
}

}  // namespace attnscale
