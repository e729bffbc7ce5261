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

using Expected = std::vector<std::vector<char>>;  // cells of each head

// What masks are told apart by: of `later` keys all, of others those that rounding cannot have
// lost.
struct MaskCells {
  Shown later;           // keys after the query, if the last query sees all
  Shown expected_later;  // the same
  Shown own;             // the query's own place, of queries that see others too
  Shown beyond_first;    // keys after the query, if the first query sees one
  Shown within_first;    // the others, under a causal mask
  std::int64_t farthest = 0;
  std::int64_t beyond = 0;  // expected cells farther than that
};

MaskCells mask_cells(std::span<const HeadCells> heads,
                     std::span<const std::vector<char>> expected) {
  MaskCells found;
  const auto for_each_cell = [&](const auto& look) {
    for (std::size_t h = 0; h < heads.size(); ++h) {
      const ScoreCells& cells = heads[h].cells;
      for (std::size_t i = 0; i < cells.distance.size(); ++i) {
        if (heads[h].is_left_out[i / cells.keys]) continue;
        look(heads[h], static_cast<std::int64_t>(cells.distance[i]),
             static_cast<std::int64_t>(i % cells.keys), i / cells.keys, !heads[h].is_zero[i],
             expected[h][i] != 0);
      }
    }
  };
  for_each_cell([&](const HeadCells& head, std::int64_t distance, std::int64_t key, std::size_t row,
                    bool is_shown, bool is_expected) {
    if (is_shown) found.farthest = std::max(found.farthest, distance);
    if (distance < 0) found.later.add(is_shown);
    if (!is_expected) return;
    if (distance < 0) found.expected_later.add(is_shown);
    if (distance == 0 && key > 0) found.own.add(is_shown);
    (key > head.queries[row] ? found.beyond_first : found.within_first).add(is_shown);
  });
  for_each_cell(
      [&](const HeadCells&, std::int64_t distance, std::int64_t, std::size_t, bool,
          bool is_expected) { found.beyond += is_expected && distance > found.farthest ? 1 : 0; });
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
  const double step = head.writing.step();
  const double least = are_weights ? plain::log(std::max(kLeast, 4 * step)) : -1e300;
  const std::vector<double> logits = expected_logits(fit, head.cells);
  std::vector<char> expected(logits.size());
  if (fit.count == 0) return expected;
  std::ranges::transform(logits, expected.begin(), [least](double one) { return one >= least; });
  return expected;
}

// Expected weights of 0 among the keys that may be seen.
Shown holes_of(const Heads& heads, const Expected& expected, const TensorAudit& mask) {
  Shown holes;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const ScoreCells& cells = heads[h].cells;
    for (std::size_t i = 0; i < cells.distance.size(); ++i) {
      const bool may_be_seen =
          !heads[h].is_left_out[i / cells.keys] && !mask.hides(cells.distance[i]);
      if (expected[h][i] && may_be_seen) holes.add(!heads[h].is_zero[i]);
    }
  }
  return holes;
}

constexpr std::int64_t kFewestCells = 8;  // expected cells that tell

// True if keys farther than what is seen are hidden, and not by accident.
bool has_window(std::span<const HeadCells> heads, const MaskCells& cells) {
  return cells.beyond >= kFewestCells && is_window(heads, cells.farthest);
}

// The mask of one head in words, as far as its expected weights tell it; empty if they do not.
std::string mask_of(const HeadCells& head, const std::vector<char>& expected) {
  const std::span<const HeadCells> one(&head, 1);
  const MaskCells cells = mask_cells(one, {&expected, 1});
  if (cells.expected_later.all < kFewestCells) return "";
  if (cells.expected_later.shown > 0) return "not causal";
  return has_window(one, cells) ? fmt::format("causal, window of {} keys", cells.farthest + 1)
                                : "causal";
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
  Expected expected;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    expected.push_back(expected_cells(heads[h], fits[h], tensors.are_weights));
  }
  const MaskCells cells = mask_cells(heads, expected);
  const bool is_causal = cells.later.are_none();
  const bool is_windowed = is_causal && tensors.answers.rows > 1 && has_window(heads, cells);
  const std::int64_t farthest = is_windowed ? cells.farthest : tensors.answers.columns - 1;
  audit.hides_later = is_causal;
  audit.is_mask_told = cells.later.all == 0 || !is_causal || cells.expected_later.all > 0;
  audit.farthest_seen = farthest;
  const Shown holes = holes_of(heads, expected, audit);
  audit.mask_words = cells.later.all == 0  ? "one query sees all"
                     : !audit.is_mask_told ? "causal, or weights too small to show later keys"
                     : is_causal           ? "causal"
                     : cells.later.shown == cells.later.all
                         ? "none: every query sees later keys too"
                         : fmt::format("not causal: {} of {} later keys are seen",
                                       cells.later.shown, cells.later.all);
  if (is_windowed) audit.mask_words += fmt::format(", window of {} keys", farthest + 1);
  if (const std::int64_t hidden = holes.all - holes.shown; hidden > 0) {
    audit.mask_words +=
        fmt::format("; {} more keys hidden, {:.3g} % of what may be seen", hidden,
                    100.0 * static_cast<double>(hidden) / static_cast<double>(holes.all));
  }
  std::int64_t empty = 0, alike = 0;
  for (const HeadCells& head : heads) {
    empty += head.empty_rows;
    alike += head.alike_rows;
  }
  if (empty > 0) audit.mask_words += fmt::format("; {} queries see nothing", empty);
  if (alike > 0) {
    audit.mask_words += fmt::format("; {} queries weigh all keys alike, as of padding", alike);
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
