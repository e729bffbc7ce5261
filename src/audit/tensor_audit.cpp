#include "audit/tensor_audit.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "audit/head_order.h"
#include "audit/mask_seen.h"
#include "audit/row_sums.h"
#include "audit/soft_caps.h"
#include "numerics/portable_math.h"

namespace attnscale {
namespace {

using Heads = std::vector<HeadCells>;
using Numbers = std::vector<double>;

constexpr double kRounding = 0.2123;  // sd of a rounding error, in units of the last of its digits

double rounding_of(int digits) {
  return kRounding * std::ldexp(1.0, 1 - digits);
}

std::string_view format_name(int digits) {
  if (digits <= 3) return "float8_e5m2";
  if (digits == 4) return "float8_e4m3fn";
  if (digits <= 8) return "bfloat16";
  if (digits <= 11) return "float16";
  return digits <= 24 ? "float32" : "float64";
}

// How large residuals of a right line would be, by what rounds.
struct Levels {
  double answers;  // as weights (or logits) are rounded
  double logits;   // as if logits had been rounded to bfloat16 before the softmax
  double vectors;  // as if queries and keys had been rounded afterwards
  int answer_digits;
  int vector_digits;
  int decimals = 0;  // that hold the answers, where they leave more than digits do
};

// The error of a logit by decimals that are not written, over all cells.
double decimal_error(const HeadCells& head, bool are_weights) {
  const double error = head.step / std::sqrt(12.0);
  if (!are_weights || error == 0) return error;
  double squares = 0, cells = 0;
  for (const double logit : head.cells.logits) {
    if (std::isnan(logit)) continue;
    const double relative = error / plain::exp(logit);
    squares += relative * relative;
    ++cells;
  }
  return std::sqrt(squares / std::max(cells, 1.0));
}

Levels levels_of(const AuditTensors& t, const Heads& heads, const std::vector<LineFit>& lines) {
  Levels levels{};
  levels.answer_digits = 1;
  for (const HeadCells& head : heads) {
    levels.answer_digits = std::max(levels.answer_digits, head.digits);
  }
  levels.vector_digits = std::max(digits_of(t.queries), digits_of(t.keys));
  double squares = 0, vectors = 0, stored = 0, cells = 0;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const double factor = lines[h].factor;
    double sum = 0;
    for (const double score : heads[h].cells.scores) sum += score * score;
    squares += factor * factor * sum / static_cast<double>(heads[h].cells.scores.size());
    for (const double logit : heads[h].cells.logits) {
      if (std::isnan(logit)) continue;
      stored += logit * logit;
      ++cells;
    }
    vectors += factor * factor * heads[h].roots * heads[h].roots;
  }
  const auto n = static_cast<double>(heads.size());
  const double logits = std::sqrt(squares / n);
  constexpr double kFloat32 = 5e-7;  // what a sum and an exponential in float32 leave
  // Scores are rounded with what is added to all of a row.
  const double size =
      t.are_weights ? 1 : std::max(logits, std::sqrt(stored / std::max(cells, 1.0)));
  levels.answers = rounding_of(levels.answer_digits) * size;
  levels.answers = std::max(levels.answers, kFloat32 * (1 + logits));
  for (const HeadCells& head : heads) {
    const double error = decimal_error(head, t.are_weights);
    if (error < levels.answers) continue;
    levels.answers = error;
    levels.decimals = head.decimals;
  }
  levels.logits = levels.answers + rounding_of(8) * logits;
  levels.vectors = std::max(
      levels.answers, std::sqrt(2.0) * rounding_of(levels.vector_digits) * std::sqrt(vectors / n));
  return levels;
}

std::string rounding_words(const Levels& levels) {
  if (levels.decimals == 0) return std::string(format_name(levels.answer_digits));
  return fmt::format("writing {} decimals", levels.decimals);
}

// Words for a residual, and whether it is explained.
void judge_residual(const AuditTensors& t, const Levels& levels, TensorAudit& audit) {
  constexpr double kNear = 1.5;
  const std::string_view answers = t.are_weights ? "weights" : "scores";
  audit.residual_is_explained = true;
  if (audit.residual <= kNear * levels.answers) {
    audit.residual_words = fmt::format("as {} rounds {}: nothing else is between q.k and the {}",
                                       rounding_words(levels), answers, answers);
  } else if (audit.residual <= kNear * levels.logits && levels.answer_digits <= 24) {
    audit.residual_words = "as bfloat16 rounds logits before the softmax: nothing else is there";
  } else if (audit.residual <= kNear * levels.vectors) {
    audit.residual_words =
        fmt::format("as if queries and keys had been rounded to {} after they were used",
                    format_name(levels.vector_digits));
  } else {
    audit.residual_is_explained = false;
    audit.residual_words = fmt::format("{:.3g} times what rounding leaves",
                                       audit.residual / std::max(levels.answers, 1e-300));
  }
}

// Decimals follow the logits where these spread little: the relative error of a factor by that.
double decimal_bias(const std::vector<LineFit>& fits) {
  double squares = 0, spread = 0;
  for (const LineFit& fit : fits) {
    squares += fit.residual * fit.residual * fit.count;
    spread += fit.factor * fit.factor * fit.curvature;
  }
  return spread > 0 ? squares / spread : 0;
}

PooledResidual pool(const std::vector<LineFit>& fits) {
  PooledResidual pooled;
  for (const LineFit& fit : fits) pooled.add(fit);
  return pooled;
}

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
  Numbers slopes;
  for (const LineFit& fit : sloped) slopes.push_back(-fit.slope);
  audit.findings.push_back(
      fmt::format("a bias that falls with the distance i - j, by {} for each place{}",
                  range_text(slopes), sloped.size() > 1 ? ", by head, as ALiBi's" : ""));
  lines = sloped;
}

// What beside a factor is between scores and logits, where a straight line leaves too much. Fits
// replace the lines they are better than.
void find_bend(const Heads& heads, const Levels& levels, const std::vector<LineFit>& cosines,
               std::vector<LineFit>& lines, TensorAudit& audit) {
  const double straight = pool(lines).value();
  const bool is_bad = straight > 1.5 * levels.answers;
  constexpr double kBetter = 0.7;
  const double wanted = is_bad ? kBetter * straight : 0;
  const auto take = [&](std::vector<LineFit> fits, std::string finding) {
    lines = std::move(fits);
    audit.findings.push_back(std::move(finding));
  };
  std::vector<LineFit> sloped;
  if (is_bad) sloped = fit_each(heads, kCellsForOthers, fit_distance);
  const double by_distance = is_bad ? pool(sloped).value() : straight;
  const CapFits caps = fit_caps(heads, lines, is_bad);
  const bool is_sloped = is_bad && by_distance < wanted && by_distance <= caps.residual;
  // Decimals are not rounded at random where a row has few of them.
  const double clearly = levels.decimals > 0 ? 0.98 * straight : kInfinity;
  const bool is_bent = is_bad ? caps.residual < wanted && caps.bend > 0
                              : caps.bend > 10 * caps.error && caps.residual < clearly &&
                                    1 / std::sqrt(caps.bend) < 25 * audit.largest;
  if (is_sloped || is_bent) {
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
  PooledResidual rows;
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
  if (!ratios.empty() && rows.value() < wanted) {
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
    for (LineFit& fit : lines) fit.residual = rows.value();
    return;
  }
  std::vector<LineFit> others = fit_each(
      heads, kCellsForOthers, [](const ScoreCells& c) { return fit_groups(c, c.distance); });
  if (pool(others).value() < wanted) {
    take(others, "a bias that depends on the distance i - j, not in a straight line");
    return;
  }
  others = fit_each(heads, kCellsForOthers,
                    [](const ScoreCells& c) { return fit_groups(c, columns_of(c)); });
  if (pool(others).value() < wanted) {
    take(others, "a bias that depends on the key alone, such as that of the queries' projection");
  }
}

// The factor of all heads together, and heads that have another.
void find_factor(const std::vector<LineFit>& fits, TensorAudit& audit) {
  for (const LineFit& fit : fits) audit.head_factors.push_back(fit.factor);
  const double middle = median(audit.head_factors);
  std::vector<std::size_t> others;
  double weight = 0, sum = 0;
  for (std::size_t h = 0; h < fits.size(); ++h) {
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
  double curvature = 0, count = 0;
  for (const LineFit& fit : fits) {
    curvature += fit.curvature;
    count += fit.count;
  }
  constexpr double kNoSpread = 1e-4;  // of logits
  audit.is_zero = std::abs(audit.factor) <= 8 * audit.factor_error ||
                  std::abs(audit.factor) * std::sqrt(curvature / count) < kNoSpread;
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

// Weights that fit anything: of one key, of keys that are all alike, or fewer than what is fitted.
void find_untold(const Heads& heads, const std::vector<LineFit>& lines, TensorAudit& audit) {
  constexpr double kFewest = 8;  // cells beside a factor and a second number for each head
  double cells = 0;
  std::vector<std::size_t> alike;
  for (std::size_t h = 0; h < lines.size(); ++h) {
    cells += lines[h].count - 2;
    double squares = 0;
    for (const double score : heads[h].cells.scores) squares += score * score;
    const double n = static_cast<double>(heads[h].cells.scores.size());
    const bool differ = lines[h].curvature > 1e-20 * squares * lines[h].count / n;
    if (lines[h].count == 0 || !differ) alike.push_back(h);
  }
  if (alike.empty() && cells >= kFewest) return;
  audit.is_explained = false;
  std::string words = "nothing can be told: too few weights beside what is fitted";
  if (alike.size() == lines.size()) {
    audit.is_told = false;
    words = "nothing can be told: no query shows two weights of keys that differ in q.k";
  } else if (!alike.empty()) {
    words = fmt::format("head {} shows no two weights of a query whose keys differ in q.k",
                        alike.front());
  }
  audit.findings.insert(audit.findings.begin(), words);
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
  const Levels levels = levels_of(tensors, heads, lines);
  audit.largest = largest_logit(heads, lines);
  const std::vector<LineFit> cosines = fit_each(heads, kCellsForOthers, fit_cosines);
  audit.cosine_residual = pool(cosines).value();
  Numbers cosine_factors;
  for (const LineFit& fit : cosines) cosine_factors.push_back(fit.factor);
  audit.cosine_factor = median(cosine_factors);
  find_untold(heads, lines, audit);
  find_bend(heads, levels, cosines, lines, audit);
  audit.residual = pool(lines).value();
  judge_residual(tensors, levels, audit);
  find_factor(lines, audit);
  if (levels.decimals > 0) audit.factor_error += decimal_bias(lines) * std::abs(audit.factor);
  find_mask(tensors, heads, lines, audit);
  if (!tensors.are_weights) find_large_masks(tensors, heads, audit);
  if (tensors.are_weights)
    find_row_sums(tensors, heads, lines, rounding_of(levels.answer_digits), audit);
  return audit;
}

}  // namespace attnscale
