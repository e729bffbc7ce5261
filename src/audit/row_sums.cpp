#include "audit/row_sums.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "numerics/portable_math.h"

namespace attnscale {
namespace {

using Numbers = std::vector<double>;

// ln of the sum of e^logit over cells of a row, without the constant of the row; NaN of no cell.
double log_sum(const HeadCells& head, const LineFit& fit, const std::vector<std::size_t>& seen) {
  if (seen.empty()) return kNan;
  Numbers logits;
  for (const std::size_t i : seen) logits.push_back(fitted_logit(fit, head.cells, i));
  const double top = *std::ranges::max_element(logits);
  double sum = 0;
  for (const double logit : logits) sum += plain::exp(logit - top);
  return top + plain::log(sum);
}

// The cells of a row that have weight: those that are used, and those that decimals cut so short
// that only the fit says what they were.
std::vector<std::size_t> seen_cells(const HeadCells& head, std::size_t row, const Numbers& expected,
                                    const TensorAudit& audit) {
  const ScoreCells& cells = head.cells;
  std::vector<std::size_t> seen;
  for (std::size_t i = row * cells.keys; i < (row + 1) * cells.keys; ++i) {
    bool is_seen = !std::isnan(cells.logits[i]);
    if (!is_seen && !expected.empty()) {
      const bool is_cut = plain::exp(expected[i]) < head.writing.step();
      is_seen = !head.is_zero[i] || (is_cut && !audit.hides(cells.distance[i]));
    }
    if (is_seen) seen.push_back(i);
  }
  return seen;
}

// The sum of a row of weights as they are written.
RowSum sum_of_bits(const HeadCells& head, std::size_t row, double rounding) {
  constexpr double kSure = 8;
  constexpr double kHalfStep = 2.36;  // of a format, in units of its rounding error
  // What is flushed to 0 is lost from the sum, and weights that are alike are rounded alike.
  const double lost = rounding > 0.01 ? 0.25 : 2e-5;
  const double alike = kHalfStep * rounding * head.sums[row];
  return {head.sums[row], kSure * std::max(rounding, 1e-7) * head.sum_errors[row] + alike + lost,
          kNan};
}

// Of weights of few decimals, of which small ones are cut alike and often to 0: in place of those
// what the fit says they were.
RowSum sum_of_decimals(const HeadCells& head, const std::vector<std::size_t>& seen,
                       const Numbers& expected, const TensorAudit& audit) {
  constexpr double kSure = 8;
  double large = 0, small = 0, used = 0;
  for (const std::size_t i : seen) {
    if (std::isnan(head.cells.logits[i])) {
      small += plain::exp(expected[i]);
    } else {
      large += plain::exp(head.cells.logits[i]);
      ++used;
    }
  }
  const bool is_told = audit.is_mask_told && small < 2 * large;
  if (!is_told) return {1, kInfinity, kNan};
  const double residual = std::max(head.writing_error, audit.residual);
  const double of_fit = residual / std::sqrt(used) + residual * residual;
  const double cut = head.writing.error(1) * std::sqrt(used);
  return {large + small, kSure * (cut + small * of_fit) + 2e-5, kNan};
}

// Of each row that is no padding and whose sum can be told; of few of them ln of the sum of
// exponentials too.
std::vector<RowSum> row_sums(const HeadCells& head, const LineFit& fit, double rounding,
                             const TensorAudit& audit) {
  constexpr std::size_t kFew = 32;
  const std::size_t rows = head.sums.size();
  const bool is_cut = head.writing.step() > 0;
  const Numbers expected = is_cut ? expected_logits(fit, head.cells) : Numbers();
  std::vector<RowSum> sums;
  for (std::size_t row = 0; row < rows; ++row) {
    if (head.is_left_out[row] || (is_cut && fit.count == 0)) continue;
    const std::vector<std::size_t> seen = seen_cells(head, row, expected, audit);
    sums.push_back(is_cut ? sum_of_decimals(head, seen, expected, audit)
                          : sum_of_bits(head, row, rounding));
    if (std::isinf(sums.back().error)) {
      sums.pop_back();
      continue;
    }
    if (fit.count > 0 && row % (rows / kFew + 1) == 0)
      sums.back().log_sum = log_sum(head, fit, seen);
  }
  return sums;
}

// True if every key's weights sum to 1 over queries.
bool columns_sum_to_one(const Matrix& weights, double error) {
  Numbers sums(static_cast<std::size_t>(weights.columns));
  Numbers row(sums.size());
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    weights.read_row(0, i, row);
    for (std::size_t key = 0; key < row.size(); ++key) sums[key] += row[key];
  }
  return std::ranges::all_of(sums, [error](double sum) { return std::abs(sum - 1) < error; });
}

// The logit of a sink that keeps back what a row's sum lacks; NaN where it lacks too little.
double sink_of(const RowSum& row) {
  const double kept = 1 - row.sum;
  if (!(kept > std::max(1e-4, 1.5 * row.error)) || row.sum < 0.02) return kNan;
  return row.log_sum + plain::log(kept / row.sum);
}

// The logit of a sink that keeps back what each row's sum lacks, by head.
void find_sink(const std::vector<std::vector<RowSum>>& heads, TensorAudit& audit) {
  Numbers sinks;
  bool is_one_each = true;
  for (const std::vector<RowSum>& rows : heads) {
    Numbers logits;
    for (const RowSum& row : rows) {
      if (const double sink = sink_of(row); !std::isnan(sink)) logits.push_back(sink);
    }
    if (logits.empty()) continue;
    sinks.push_back(median(logits));
    const double middle = sinks.back();
    const auto far = std::ranges::count_if(
        logits, [middle](double logit) { return std::abs(logit - middle) > 0.2; });
    is_one_each = is_one_each && 10 * far <= std::ssize(logits);
  }
  if (sinks.empty() || !is_one_each) {
    audit.sum_finding = "weight is kept back, but not as one sink would";
    audit.are_sums_explained = false;
    return;
  }
  const auto [low, high] = std::ranges::minmax(sinks);
  const double middle = median(sinks);
  const bool is_one = fits_sink(audit, middle);
  const std::string where = sinks.size() < heads.size() && !is_one
                                ? fmt::format(" in {} of {} heads", sinks.size(), heads.size())
                                : "";
  if (high - low > 0.1 && !is_one) {
    audit.sum_finding = fmt::format(
        "a sink keeps weight back{}, with a logit of {:.3g} to {:.3g} by head", where, low, high);
    return;
  }
  if (where.empty()) audit.sink = middle;
  audit.sum_finding =
      where.empty() && std::abs(middle) < 0.05
          ? "a sink keeps weight back, with the logit 0: softmax1"
          : fmt::format("a sink keeps weight back{}, with the logit {:.3g}", where, middle);
}

}  // namespace

bool fits_sink(const TensorAudit& audit, double logit) {
  constexpr double kOfFit = 2e-4;
  return std::ranges::all_of(audit.rows_summed, [&](const RowSum& row) {
    if (std::isnan(row.log_sum)) return true;
    const double sum = 1 / (1 + plain::exp(logit - row.log_sum));
    return std::abs(row.sum - sum) <= row.error + kOfFit;
  });
}

void find_row_sums(const AuditTensors& tensors, const std::vector<HeadCells>& heads,
                   const std::vector<LineFit>& fits, double rounding, TensorAudit& audit) {
  std::vector<std::vector<RowSum>> of_heads;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    of_heads.push_back(
        row_sums(heads[h], fits[h], std::max(rounding, heads[h].writing_error), audit));
    std::ranges::copy(of_heads.back(), std::back_inserter(audit.rows_summed));
  }
  if (audit.rows_summed.empty()) {
    audit.sum_words = "the weights are too coarse to tell what a row sums to";
    return;
  }
  Numbers sums;
  for (const RowSum& row : audit.rows_summed) sums.push_back(row.sum);
  const auto all_are = [&](double constant) {
    return std::ranges::all_of(audit.rows_summed, [constant](const RowSum& row) {
      return std::abs(row.sum - constant) <= row.error;
    });
  };
  const auto [low, high] = std::ranges::minmax(sums);
  if (all_are(1)) {
    audit.sum_words = "each row sums to 1";
    return;
  }
  const double middle = median(sums);
  if (all_are(middle)) {
    audit.sums = middle;
    audit.sum_words = fmt::format("each row sums to {:.4g}", middle);
    Numbers sinks;
    for (const RowSum& row : audit.rows_summed) {
      if (const double sink = sink_of(row); !std::isnan(sink)) sinks.push_back(sink);
    }
    if (!sinks.empty() && fits_sink(audit, median(sinks))) audit.sink = median(sinks);
    return;
  }
  audit.sum_words = fmt::format("rows sum to {:.4g} to {:.4g}", low, high);
  if (columns_sum_to_one(tensors.answers, 0.02)) {
    audit.sum_finding = "softmax over queries: each key's weights sum to 1, not each row's";
    audit.are_sums_explained = false;
  } else if (high < 1.02) {
    find_sink(of_heads, audit);
  } else {
    audit.sum_finding = fmt::format(
        "rows of weights do not sum to one number ({:.4g} to {:.4g}), as after dropout", low, high);
    audit.are_sums_explained = false;
  }
}

void find_large_masks(const AuditTensors& tensors, const std::vector<HeadCells>& heads,
                      TensorAudit& audit) {
  constexpr double kLow = -1e4;
  if (tensors.masked_below) return;
  double lowest = 0;
  for (const HeadCells& head : heads) lowest = std::min(lowest, head.lowest);
  if (lowest > kLow) return;
  // Whatever else was found is their doing.
  audit.findings = {
      fmt::format("scores down to {:.3g} look like masks: say --masked-below -1e4", lowest)};
  audit.is_explained = false;
  audit.is_told = false;
}

}  // namespace attnscale
