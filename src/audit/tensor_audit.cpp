#include "audit/tensor_audit.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "audit/head_order.h"
#include "audit/row_sums.h"
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

std::string range_text(const Numbers& numbers) {
  const auto [low, high] = std::ranges::minmax(numbers);
  if (high - low < 1e-4 * std::abs(high)) return fmt::format("{:.4g}", (low + high) / 2);
  return fmt::format("{:.4g} to {:.4g}", low, high);
}

// Fewer rows of the same cells, for what costs more.
ScoreCells thinned(const ScoreCells& cells, std::size_t most) {
  if (cells.rows * cells.keys <= most) return cells;
  const std::size_t step = cells.rows * cells.keys / most + 1;
  ScoreCells few;
  few.keys = cells.keys;
  for (std::size_t row = cells.rows; row > 0; row -= std::min(step, row)) {
    const auto begin = static_cast<std::ptrdiff_t>((row - 1) * cells.keys);
    const auto end = begin + static_cast<std::ptrdiff_t>(cells.keys);
    const auto copy = [&](const Numbers& from, Numbers& to) {
      to.insert(to.end(), from.begin() + begin, from.begin() + end);
    };
    copy(cells.scores, few.scores);
    copy(cells.logits, few.logits);
    copy(cells.distance, few.distance);
    copy(cells.cosines, few.cosines);
    ++few.rows;
  }
  return few;
}

// The soft-cap of all heads together: 1 / cap^2 as a mean weighted by errors.
struct CapFits {
  std::vector<LineFit> heads;
  double inverse_square = 0;
  double error = 0;
  double residual = 0;
};

CapFits fit_caps(const Heads& heads, const std::vector<LineFit>& lines, bool is_bent,
                 std::size_t most) {
  CapFits fits;
  double weight = 0;
  PooledResidual pooled;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const ScoreCells cells = thinned(heads[h].cells, most);
    LineFit start = lines[h];
    start.second = 0;
    LineFit best = fit_soft_cap(cells, start);
    double low = 0, high = 0;
    for (const double logit : cells.logits) {
      if (std::isnan(logit)) continue;
      low = std::min(low, logit);
      high = std::max(high, logit);
    }
    for (const double times : {1.5, 4.0, 12.0}) {
      if (!is_bent || !(high > low)) break;
      LineFit other = lines[h];
      other.factor *= times;
      other.second = 4 / ((high - low) * (high - low));
      other = fit_soft_cap(cells, other);
      if (other.residual < best.residual) best = other;
    }
    fits.heads.push_back(best);
    pooled.add(best);
    if (!(best.second_error > 0) || !std::isfinite(best.second_error)) continue;
    const double w = 1 / (best.second_error * best.second_error);
    fits.inverse_square += w * best.second;
    weight += w;
  }
  if (weight > 0) fits.inverse_square /= weight;
  fits.error = weight > 0 ? 1 / std::sqrt(weight) : std::numeric_limits<double>::infinity();
  fits.residual = pooled.value();
  return fits;
}

// How large residuals of a right line would be, by what rounds.
struct Levels {
  double answers;  // as weights (or logits) are rounded
  double logits;   // as if logits had been rounded to bfloat16 before the softmax
  double vectors;  // as if queries and keys had been rounded afterwards
  int answer_digits;
  int vector_digits;
};

Levels levels_of(const AuditTensors& t, const Heads& heads, const std::vector<LineFit>& lines) {
  Levels levels{};
  levels.answer_digits = 1;
  for (const HeadCells& head : heads) {
    levels.answer_digits = std::max(levels.answer_digits, head.digits);
  }
  levels.vector_digits = std::max(digits_of(t.queries), digits_of(t.keys));
  double squares = 0, vectors = 0;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const double factor = lines[h].factor;
    double sum = 0;
    for (const double score : heads[h].cells.scores) sum += score * score;
    squares += factor * factor * sum / static_cast<double>(heads[h].cells.scores.size());
    vectors += factor * factor * heads[h].roots * heads[h].roots;
  }
  const auto n = static_cast<double>(heads.size());
  const double logits = std::sqrt(squares / n);
  constexpr double kFloat32 = 5e-7;  // what a sum and an exponential in float32 leave
  levels.answers = rounding_of(levels.answer_digits) * (t.are_weights ? 1 : logits);
  levels.answers = std::max(levels.answers, kFloat32 * (1 + logits));
  levels.logits = levels.answers + rounding_of(8) * logits;
  levels.vectors = std::max(
      levels.answers, std::sqrt(2.0) * rounding_of(levels.vector_digits) * std::sqrt(vectors / n));
  return levels;
}

// Words for a residual, and whether it is explained.
void judge_residual(const AuditTensors& t, const Levels& levels, TensorAudit& audit) {
  constexpr double kNear = 1.5;
  const std::string_view answers = t.are_weights ? "weights" : "scores";
  audit.residual_is_explained = true;
  if (audit.residual <= kNear * levels.answers) {
    audit.residual_words = fmt::format("as {} rounds {}: nothing else is between q.k and the {}",
                                       format_name(levels.answer_digits), answers, answers);
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

constexpr std::size_t kCellsForCaps = std::size_t{1} << 15;
constexpr std::size_t kCellsForOthers = std::size_t{1} << 16;

Numbers columns_of(const ScoreCells& cells) {
  Numbers columns(cells.scores.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i] = static_cast<double>(i % cells.keys);
  }
  return columns;
}

// What beside a factor is between scores and logits, where a straight line leaves too much. Fits
// replace the lines they are better than.
void find_bend(const Heads& heads, const Levels& levels, std::vector<LineFit>& lines,
               TensorAudit& audit) {
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
  const CapFits caps = fit_caps(heads, lines, is_bad, kCellsForCaps);
  if (is_bad && by_distance < wanted && by_distance <= caps.residual) {
    Numbers slopes;
    for (const LineFit& fit : sloped) slopes.push_back(-fit.second);
    take(sloped, fmt::format("a bias that falls with the distance i - j, by {} for each place{}",
                             range_text(slopes), heads.size() > 1 ? ", by head, as ALiBi's" : ""));
    return;
  }
  double largest = 0;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    for (std::size_t i = 0; i < heads[h].cells.scores.size(); ++i) {
      if (std::isnan(heads[h].cells.logits[i])) continue;
      largest = std::max(largest, std::abs(lines[h].factor * heads[h].cells.scores[i]));
    }
  }
  const bool is_sure = caps.inverse_square > 10 * caps.error &&
                       1 / std::sqrt(std::abs(caps.inverse_square)) < 25 * largest;
  if (is_bad ? caps.residual < wanted && caps.inverse_square > 0 : is_sure) {
    audit.soft_cap = 1 / std::sqrt(caps.inverse_square);
    take(caps.heads, fmt::format("a soft-cap of {:.2f} (cap tanh(logit / cap))", *audit.soft_cap));
    return;
  }
  if (!is_bad) return;
  std::vector<LineFit> others =
      fit_each(heads, kCellsForOthers, [](const ScoreCells& c) { return fit_line(c, c.cosines); });
  if (pool(others).value() < wanted) {
    take(others,
         "queries and keys are normalised before their product: the factor is of cos(q, k)");
    audit.uses_cosines = true;
    return;
  }
  // A factor of its own for each query.
  PooledResidual rows;
  Numbers ratios;
  for (const HeadCells& head : heads) {
    const RowFits fits = fit_rows(head.cells);
    rows.add({.residual = fits.residual, .count = 1});
    for (std::size_t r = 0; r < fits.factors.size(); ++r) {
      const auto seen = static_cast<double>(std::count_if(
          head.cells.logits.begin() + static_cast<std::ptrdiff_t>(r * head.cells.keys),
          head.cells.logits.begin() + static_cast<std::ptrdiff_t>((r + 1) * head.cells.keys),
          [](double logit) { return !std::isnan(logit); }));
      if (!std::isnan(fits.factors[r]) && seen > 2)
        ratios.push_back(fits.factors[r] / plain::log(seen));
    }
  }
  if (rows.value() < wanted) {
    const double middle = median(ratios);
    const bool is_log = std::ranges::all_of(ratios, [middle](double ratio) {
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
  others = fit_each(heads, kCellsForOthers,
                    [](const ScoreCells& c) { return fit_groups(c, c.distance); });
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
    const double error = std::max(fits[h].factor_error, 1e-12 * std::abs(middle) + 1e-300);
    weight += 1 / (error * error);
    sum += fits[h].factor / (error * error);
  }
  audit.factor = weight > 0 ? sum / weight : middle;
  audit.factor_error = weight > 0 ? 1 / std::sqrt(weight) : 0;
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

// What queries see, and weights of 0 where the fit expects more.
void find_mask(const AuditTensors& t, const Heads& heads, const std::vector<LineFit>& fits,
               TensorAudit& audit) {
  std::int64_t above = 0, shown_above = 0, farthest = 0, holes = 0, expected = 0;
  for (const HeadCells& head : heads) {
    for (std::size_t i = 0; i < head.is_zero.size(); ++i) {
      const double distance = head.cells.distance[i];
      above += distance < 0 ? 1 : 0;
      if (head.is_zero[i]) continue;
      shown_above += distance < 0 ? 1 : 0;
      farthest = std::max(farthest, static_cast<std::int64_t>(distance));
    }
  }
  const bool is_causal = above > 0 && shown_above == 0;
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
      const double least = t.are_weights ? -9.010913347279288 : -1e300;
      for (std::size_t i = row * cells.keys; i < (row + 1) * cells.keys; ++i) {
        if ((is_causal && cells.distance[i] < 0) ||
            cells.distance[i] > static_cast<double>(farthest)) {
          continue;
        }
        if (constant / n + fits[h].factor * cells.scores[i] < least) continue;
        ++expected;
        holes += heads[h].is_zero[i] ? 1 : 0;
      }
    }
  }
  const std::int64_t most = t.answers.columns - 1;
  audit.mask_words = above == 0  ? "one query sees all"
                     : is_causal ? "causal"
                                 : "none: every query sees later keys too";
  if (is_causal && farthest < most && t.answers.rows > 1) {
    audit.mask_words += fmt::format(", window of {} keys", farthest + 1);
  }
  if (holes > 0 && expected > 0) {
    audit.mask_words +=
        fmt::format("; {} more keys hidden, {:.3g} % of what may be seen", holes,
                    100.0 * static_cast<double>(holes) / static_cast<double>(expected));
  }
  if (t.causal && shown_above > 0) {
    audit.findings.push_back(fmt::format(
        "no causal mask, though --causal says so: {} weights above the diagonal are not 0",
        shown_above));
    audit.is_explained = false;
  }
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
    heads.push_back(head_cells(tensors, head, order.key_head(head), most));
    lines.push_back(fit_line(heads.back().cells, heads.back().cells.scores));
  }
  audit.rows = std::ssize(heads.front().queries);
  const Levels levels = levels_of(tensors, heads, lines);
  find_bend(heads, levels, lines, audit);
  audit.residual = pool(lines).value();
  judge_residual(tensors, levels, audit);
  find_factor(lines, audit);
  find_mask(tensors, heads, lines, audit);
  if (!tensors.are_weights) find_large_masks(tensors, heads, audit);
  if (tensors.are_weights)
    find_row_sums(tensors, heads, lines, rounding_of(levels.answer_digits), audit);
  return audit;
}

}  // namespace attnscale
