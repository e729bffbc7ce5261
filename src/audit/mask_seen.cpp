#include "audit/mask_seen.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "numerics/portable_math.h"

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

// True if most queries of the heads that could see a key at that place do: a band, and no accident.
bool is_window(std::span<const HeadCells> heads, std::int64_t farthest) {
  Shown edge;
  for (const HeadCells& head : heads) {
    for (std::size_t i = 0; i < head.is_zero.size(); ++i) {
      if (head.cells.distance[i] == static_cast<double>(farthest)) edge.add(!head.is_zero[i]);
    }
  }
  return 2 * edge.shown > edge.all;
}

// Cells of which the fit expects more than rounding loses.
std::vector<char> expected_cells(const HeadCells& head, const LineFit& fit, bool are_weights) {
  constexpr double kLeast = 0x1p-13;
  const double least = are_weights ? plain::log(std::max(kLeast, 4 * head.step)) : -1e300;
  const ScoreCells& cells = head.cells;
  std::vector<char> expected(cells.scores.size());
  for (std::size_t row = 0; row < cells.rows; ++row) {
    const std::size_t begin = row * cells.keys;
    double constant = 0, n = 0;
    for (std::size_t i = begin; i < begin + cells.keys; ++i) {
      if (std::isnan(cells.logits[i])) continue;
      constant += cells.logits[i] - fitted_logit(fit, cells, i);
      ++n;
    }
    for (std::size_t i = begin; n > 0 && i < begin + cells.keys; ++i) {
      expected[i] = constant / n + fitted_logit(fit, cells, i) >= least;
    }
  }
  return expected;
}

using Expected = std::vector<std::vector<char>>;  // cells of each head

// Expected weights of 0 among the keys that may be seen.
Shown holes_of(const Heads& heads, const Expected& expected, bool is_causal,
               std::int64_t farthest) {
  Shown holes;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const ScoreCells& cells = heads[h].cells;
    for (std::size_t i = 0; i < cells.distance.size(); ++i) {
      const bool is_masked =
          (is_causal && cells.distance[i] < 0) || cells.distance[i] > static_cast<double>(farthest);
      if (expected[h][i] && !is_masked) holes.add(!heads[h].is_zero[i]);
    }
  }
  return holes;
}

// The mask of one head in words, as far as its expected weights tell it; empty if they do not.
std::string mask_of(const HeadCells& head, const std::vector<char>& expected) {
  constexpr std::int64_t kFewest = 8;  // cells that tell
  Shown later;
  std::int64_t farthest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto distance = static_cast<std::int64_t>(head.cells.distance[i]);
    if (!head.is_zero[i]) farthest = std::max(farthest, distance);
    if (expected[i] && distance < 0) later.add(!head.is_zero[i]);
  }
  if (later.all < kFewest) return "";
  if (later.shown > 0) return "not causal";
  std::int64_t beyond = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    beyond += expected[i] && head.cells.distance[i] > static_cast<double>(farthest) ? 1 : 0;
  }
  const bool has_window = beyond >= kFewest && is_window(std::span(&head, 1), farthest);
  return has_window ? fmt::format("causal, window of {} keys", farthest + 1) : "causal";
}

// Heads whose mask is not that of most.
void find_other_masks(const Heads& heads, const Expected& expected, TensorAudit& audit) {
  std::map<std::string, std::vector<std::size_t>> heads_of;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    if (std::string words = mask_of(heads[h], expected[h]); !words.empty()) {
      heads_of[std::move(words)].push_back(h);
    }
  }
  if (heads_of.size() < 2) return;
  const auto most =
      std::ranges::max_element(heads_of, {}, [](const auto& one) { return one.second.size(); });
  for (const auto& [words, those] : heads_of) {
    if (words == most->first) continue;
    const std::string which =
        those.size() == 1 ? fmt::format("head {} has", those.front())
                          : fmt::format("{} heads, {} first, have", those.size(), those.front());
    audit.findings.push_back(
        fmt::format("{} another mask than most: {} where they are {}", which, words, most->first));
  }
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
  Expected expected;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    expected.push_back(expected_cells(heads[h], fits[h], tensors.are_weights));
  }
  const Shown holes = holes_of(heads, expected, is_causal, farthest);
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
  find_other_masks(heads, expected, audit);
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
