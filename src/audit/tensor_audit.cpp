#include "audit/tensor_audit.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "audit/head_order.h"
#include "audit/mask_seen.h"
#include "audit/rounding.h"
#include "audit/row_sums.h"
#include "audit/soft_caps.h"
#include "numerics/portable_math.h"

namespace attnscale {
namespace {

using Heads = std::vector<HeadCells>;
using Numbers = std::vector<double>;

template <typename Fit>
std::vector<LineFit> fit_each(const Heads& heads, std::size_t most, const Fit& fit) {
  std::vector<LineFit> fits;
  for (const HeadCells& head : heads) fits.push_back(fit(thinned(head.cells, most)));
  return fits;
}

constexpr std::size_t kCellsForOthers = std::size_t{1} << 16;

Numbers columns_of(const ScoreCells& cells) {
  Numbers columns(cells.scores.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i] = static_cast<double>(i % cells.keys);
  }
  return columns;
}

void take_slopes(const std::vector<LineFit>& sloped, std::vector<LineFit>& lines,
                 TensorAudit& audit) {
  Numbers slopes;  // of heads that have one
  for (const LineFit& fit : sloped) {
    if (std::abs(fit.slope) > 8 * fit.slope_error) slopes.push_back(-fit.slope);
  }
  std::string where;
  if (slopes.size() < sloped.size()) {
    where = fmt::format(" in {} of {} heads", slopes.size(), sloped.size());
  } else if (sloped.size() > 1) {
    where = ", by head, as ALiBi's";
  }
  if (slopes.empty()) return;
  audit.findings.push_back(
      fmt::format("a bias that falls with the distance i - j, by {} for each place{}",
                  range_text(slopes), where));
  lines = sloped;
}

// What beside a factor is between scores and logits, where a straight line leaves too much. Fits
// replace the lines they are better than.
void find_bend(const Heads& heads, const RoundingLevels& levels,
               const std::vector<LineFit>& cosines, const AuditTensors& tensors,
               std::vector<LineFit>& lines, TensorAudit& audit) {
  const double straight = PooledFits(lines).residual();
  const bool is_bad = straight > 1.5 * levels.answers;
  constexpr double kBetter = 0.7;
  const double wanted = is_bad ? kBetter * straight : 0;
  const auto take = [&](std::vector<LineFit> fits, std::string finding) {
    lines = std::move(fits);
    audit.findings.push_back(std::move(finding));
  };
  std::vector<LineFit> sloped;
  if (is_bad) sloped = fit_each(heads, kCellsForOthers, fit_distance);
  const double by_distance = is_bad ? PooledFits(sloped).residual() : straight;
  const CapFits caps = fit_caps(heads, lines, is_bad);
  const bool is_sloped = is_bad && by_distance < wanted && by_distance <= caps.residual;
  // Decimals are not rounded at random where a row has few of them.
  const double clearly = levels.writing ? 0.9 * straight : kInfinity;
  const bool is_bent = is_bad ? caps.residual < wanted && caps.bend > 0
                              : caps.bend > 10 * caps.error && caps.residual < clearly &&
                                    1 / std::sqrt(caps.bend) < 25 * audit.largest;
  const double meant = tensors.soft_cap ? 1 / (*tensors.soft_cap * *tensors.soft_cap) : 0;
  const bool may_be_meant = meant > 0 && caps.bend > 0 && std::isfinite(caps.error) &&
                            std::abs(caps.bend - meant) < 4 * caps.error;
  if (is_sloped || is_bent || (!is_bad && may_be_meant)) {
    const double left = is_sloped ? by_distance : caps.residual;
    CapFits both;
    if (left > 1.5 * levels.answers) {
      both = fit_caps_and_slopes(heads, is_sloped ? sloped : caps.heads);
    }
    const bool are_both = !both.heads.empty() && both.bend > 0 && both.residual < kBetter * left;
    if (is_sloped || are_both) take_slopes(are_both ? both.heads : sloped, lines, audit);
    if (are_both || !is_sloped) take_caps(heads, are_both ? both : caps, lines, audit);
    return;
  }
  if (!is_bad) return;
  if (audit.cosine_residual < wanted) {
    take(cosines,
         "queries and keys are normalised before their product: the factor is of cos(q, k)");
    audit.uses_cosines = true;
    return;
  }
  // A factor of its own for each query.
  PooledFits rows;
  Numbers ratios;
  Numbers counts;  // of the keys that queries see
  for (const HeadCells& head : heads) {
    const RowFits fits = fit_rows(head.cells);
    rows.add({.residual = fits.residual, .count = 1});
    for (std::size_t r = 0; r < fits.factors.size(); ++r) {
      const auto seen = static_cast<double>(std::count_if(
          head.cells.logits.begin() + static_cast<std::ptrdiff_t>(r * head.cells.keys),
          head.cells.logits.begin() + static_cast<std::ptrdiff_t>((r + 1) * head.cells.keys),
          [](double logit) { return !std::isnan(logit); }));
      if (std::isnan(fits.factors[r]) || seen <= 2) continue;
      ratios.push_back(fits.factors[r] / plain::log(seen));
      counts.push_back(seen);
    }
  }
  if (!ratios.empty() && rows.residual() < wanted) {
    const double middle = median(ratios);
    const bool is_log = std::ranges::max(counts) > 1.5 * std::ranges::min(counts) &&
                        std::ranges::all_of(ratios, [middle](double ratio) {
                          return std::abs(ratio - middle) < 0.05 * std::abs(middle);
                        });
    audit.findings.push_back(
        is_log ? fmt::format("a factor that grows as ln(keys that the query sees): {:.5g} ln(keys)",
                             middle)
               : "a factor of its own for each query");
    audit.is_explained = audit.is_explained && is_log;
    for (LineFit& fit : lines) fit.residual = rows.residual();
    return;
  }
  std::vector<LineFit> others = fit_each(
      heads, kCellsForOthers, [](const ScoreCells& c) { return fit_groups(c, c.distance); });
  if (PooledFits(others).residual() < wanted) {
    take(others, "a bias that depends on the distance i - j, not in a straight line");
    return;
  }
  others = fit_each(heads, kCellsForOthers,
                    [](const ScoreCells& c) { return fit_groups(c, columns_of(c)); });
  if (PooledFits(others).residual() < wanted) {
    take(others, "a bias that depends on the key alone, such as that of the queries' projection");
  }
}

// The factor of all heads together, and heads that have another.
void find_factor(const std::vector<LineFit>& fits, const std::vector<char>& told,
                 TensorAudit& audit) {
  Numbers told_factors;
  for (std::size_t h = 0; h < fits.size(); ++h) {
    audit.head_factors.push_back(fits[h].factor);
    if (told[h]) told_factors.push_back(fits[h].factor);
  }
  const double middle = median(told_factors);
  std::vector<std::size_t> others;
  double weight = 0, sum = 0;
  for (std::size_t h = 0; h < fits.size(); ++h) {
    if (!told[h]) continue;
    const double allowed = std::max(8 * fits[h].factor_error, 4e-3 * std::abs(middle));
    if (std::abs(fits[h].factor - middle) > allowed) {
      others.push_back(h);
      continue;
    }
    const double error = std::max(fits[h].factor_error, 1e-12 * std::abs(middle) + 1e-150);
    weight += 1 / (error * error);
    sum += fits[h].factor / (error * error);
  }
  audit.factor = weight > 0 ? sum / weight : middle;
  audit.factor_error = weight > 0 ? 1 / std::sqrt(weight) : 0;
  const PooledFits pooled(fits);
  constexpr double kNoSpread = 1e-4;  // of logits
  audit.score_spread = pooled.score_spread();
  audit.is_zero = std::abs(audit.factor) <= 8 * audit.factor_error ||
                  (std::abs(audit.factor) * audit.score_spread < kNoSpread &&
                   audit.factor_error > 1e-3 * std::abs(audit.factor));
  if (!audit.is_zero) {  // rounding follows the logits where these spread little
    const double share = pooled.residual() / pooled.spread();
    audit.factor_error += share * share * std::abs(audit.factor);
  }
  if (others.empty()) return;
  if (4 * others.size() > fits.size()) {
    audit.factor_by_head = true;
    audit.findings.push_back("one factor for each head, from " + range_text(audit.head_factors));
    return;
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(others.size(), 3); ++i) {
    const double factor = fits[others[i]].factor;
    audit.findings.push_back(
        fmt::format("head {} has another factor, {:.5g}: {:.4g} of the others'", others[i], factor,
                    factor / audit.factor));
  }
  if (others.size() > 3) {
    audit.findings.push_back(fmt::format("{} more heads have other factors", others.size() - 3));
  }
}

// The largest logit of the lines.
double largest_logit(const Heads& heads, const std::vector<LineFit>& lines) {
  double largest = 0;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    for (std::size_t i = 0; i < heads[h].cells.scores.size(); ++i) {
      if (std::isnan(heads[h].cells.logits[i])) continue;
      largest = std::max(largest, std::abs(lines[h].factor * heads[h].cells.scores[i]));
    }
  }
  return largest;
}

// Whether each head tells of a factor: of one key, or of keys that are all alike, it does not.
std::vector<char> told_heads(const Heads& heads, const std::vector<LineFit>& lines) {
  constexpr double kFewestOfHead = 3;  // weights, or any factor fits
  std::vector<char> told;
  for (std::size_t h = 0; h < lines.size(); ++h) {
    double squares = 0;
    for (const double score : heads[h].cells.scores) squares += score * score;
    const double n = static_cast<double>(heads[h].cells.scores.size());
    told.push_back(lines[h].count >= kFewestOfHead &&
                   lines[h].curvature > 1e-20 * squares * lines[h].count / n);
  }
  return told;
}

// Weights that fit anything, or fewer than what is fitted; false if there is nothing else to find.
bool tell_enough(const std::vector<char>& told, const std::vector<LineFit>& lines,
                 TensorAudit& audit) {
  constexpr double kFewest = 8;  // cells beside a factor and a second number for each head
  double cells = 0;
  for (const LineFit& line : lines) cells += line.count - 2;
  const auto silent = std::ranges::find(told, 0);
  if (silent == told.end() && cells >= kFewest) return true;
  audit.is_explained = false;
  audit.is_told = std::ranges::find(told, 1) != told.end();
  if (!audit.is_told) {
    audit.findings.emplace_back("nothing can be told: too few weights of keys that differ in q.k");
  } else if (silent != told.end()) {
    audit.findings.push_back(fmt::format("head {} shows too few weights of keys that differ in q.k",
                                         silent - told.begin()));
  } else {
    audit.findings.emplace_back("nothing can be told: too few weights beside what is fitted");
  }
  return audit.is_told && cells >= kFewest;
}

// A factor whose error leaves it open what it is.
void find_vague_factor(TensorAudit& audit) {
  constexpr double kVague = 0.05;
  if (!audit.is_told || audit.is_zero || !audit.residual_is_explained) return;
  if (audit.factor_error < kVague * std::abs(audit.factor)) return;
  audit.findings.push_back(
      fmt::format("nothing can be told: the factor is {:.3g} +- {:.1g}, as logits spread by {:.2g} "
                  "and are known to {:.2g}",
                  audit.factor, audit.factor_error, audit.score_spread * std::abs(audit.factor),
                  audit.residual));
  audit.is_told = false;
  audit.is_explained = false;
}

}  // namespace

TensorAudit audit_tensors(const AuditTensors& tensors) {
  constexpr std::int64_t kMostCells = std::int64_t{1} << 19;  // of a head
  TensorAudit audit;
  const HeadOrder order = find_head_order(tensors, 0.05);
  audit.head_words = order.words;
  if (!order.finding.empty()) audit.findings.push_back(order.finding);
  const std::int64_t most = std::max<std::int64_t>(
      8, std::min(kMostCells, (std::int64_t{1} << 24) / tensors.queries.heads) / tensors.keys.rows);
  Heads heads;
  std::vector<LineFit> lines;
  for (std::int64_t head = 0; head < tensors.queries.heads; ++head) {
    heads.push_back(head_cells(tensors, order.heads[static_cast<std::size_t>(head)], most));
    lines.push_back(fit_line(heads.back().cells));
  }
  audit.rows = std::ssize(heads.front().queries);
  const RoundingLevels levels = rounding_levels(tensors, heads, lines);
  audit.largest = largest_logit(heads, lines);
  const std::vector<LineFit> cosines = fit_each(heads, kCellsForOthers, fit_cosines);
  audit.cosine_residual = PooledFits(cosines).residual();
  Numbers cosine_factors;
  for (const LineFit& fit : cosines) cosine_factors.push_back(fit.factor);
  audit.cosine_factor = median(cosine_factors);
  const std::vector<char> told = told_heads(heads, lines);
  for (std::size_t h = 0; h < told.size(); ++h) {
    if (!told[h]) lines[h] = {};
  }
  if (tell_enough(told, lines, audit)) find_bend(heads, levels, cosines, tensors, lines, audit);
  judge_residual(tensors, levels, lines, audit);
  find_factor(lines, told, audit);
  find_vague_factor(audit);
  find_mask(tensors, heads, lines, audit);
  if (!tensors.are_weights) find_large_masks(tensors, heads, audit);
  if (tensors.are_weights)
    find_row_sums(tensors, heads, lines, rounding_of(levels.answer_digits), audit);
  return audit;
}

}  // namespace attnscale
