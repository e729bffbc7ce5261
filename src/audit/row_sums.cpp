#include "audit/row_sums.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "numerics/portable_math.h"

namespace attnscale {
namespace {

using Numbers = std::vector<double>;

// ln of the sum of e^logit over what a row sees.
double log_sum(const HeadCells& head, std::size_t row, const LineFit& fit) {
  const ScoreCells& cells = head.cells;
  Numbers logits;
  for (std::size_t i = row * cells.keys; i < (row + 1) * cells.keys; ++i) {
    if (!std::isnan(cells.logits[i])) logits.push_back(fitted_logit(fit, cells, i));
  }
  if (logits.empty()) return 0;
  const double top = *std::ranges::max_element(logits);
  double sum = 0;
  for (const double logit : logits) sum += plain::exp(logit - top);
  return top + plain::log(sum);
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

// What decimals that are not written may take from a row's sum.
double lost_to_decimals(const HeadCells& head) {
  return head.step / 2 * static_cast<double>(head.cells.keys);
}

// The logit of a sink that keeps back what each row's sum lacks, by head.
void find_sink(const std::vector<HeadCells>& heads, const std::vector<LineFit>& fits,
               double rounding, TensorAudit& audit) {
  Numbers sinks;
  bool is_one_each = true;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    Numbers logits;
    for (std::size_t row = 0; row < heads[h].sums.size(); ++row) {
      const double kept = 1 - heads[h].sums[row];
      const double lost = 2 * lost_to_decimals(heads[h]);
      if (kept < std::max({1e-4, 12 * rounding, lost}) || heads[h].sums[row] < 0.02) continue;
      logits.push_back(log_sum(heads[h], row, fits[h]) + plain::log(kept / heads[h].sums[row]));
    }
    if (logits.empty()) continue;
    sinks.push_back(median(logits));
    const auto far = std::ranges::count_if(
        logits, [&](double logit) { return std::abs(logit - sinks.back()) > 0.2; });
    is_one_each = is_one_each && 10 * far <= std::ssize(logits);
  }
  if (sinks.empty() || !is_one_each) {
    audit.findings.emplace_back("weight is kept back, but not as one sink would");
    audit.is_explained = false;
    return;
  }
  const auto [low, high] = std::ranges::minmax(sinks);
  const std::string where = sinks.size() < heads.size()
                                ? fmt::format(" in {} of {} heads", sinks.size(), heads.size())
                                : "";
  if (high - low > 0.1) {
    audit.findings.push_back(fmt::format(
        "a sink keeps weight back{}, with a logit of {:.3g} to {:.3g} by head", where, low, high));
    return;
  }
  if (!where.empty()) {
    audit.findings.push_back(
        fmt::format("a sink keeps weight back{}, with the logit {:.3g}", where, median(sinks)));
    return;
  }
  audit.sink = median(sinks);
  audit.findings.push_back(
      std::abs(*audit.sink) < 0.05
          ? "a sink keeps weight back, with the logit 0: softmax1"
          : fmt::format("a sink keeps weight back, with the logit {:.3g}", *audit.sink));
}

}  // namespace

double median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  const auto middle = numbers.begin() + std::ssize(numbers) / 2;
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

void find_row_sums(const AuditTensors& tensors, const std::vector<HeadCells>& heads,
                   const std::vector<LineFit>& fits, double rounding, TensorAudit& audit) {
  Numbers sums;
  Numbers errors;
  constexpr double kSure = 8;
  constexpr double kHalfStep = 2.36;  // of a format, in units of its rounding error
  for (const HeadCells& head : heads) {
    for (std::size_t row = 0; row < head.sums.size(); ++row) {
      sums.push_back(head.sums[row]);
      // What is flushed to 0 is lost from the sum.
      const double lost = (rounding > 0.01 ? 0.25 : 2e-5) + lost_to_decimals(head);
      // Weights that are alike are rounded alike.
      const double alike = kHalfStep * rounding * head.sums[row];
      errors.push_back(kSure * std::max(rounding, 1e-7) * head.sum_errors[row] + alike + lost);
    }
  }
  audit.sum_error = *std::ranges::max_element(errors);
  Numbers log_sums;
  constexpr std::size_t kFew = 32;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const std::size_t rows = heads[h].sums.size();
    for (std::size_t row = 0; row < rows; row += rows / kFew + 1) {
      log_sums.push_back(log_sum(heads[h], row, fits[h]));
    }
  }
  audit.log_sum = median(log_sums);
  const auto all_are = [&](double constant) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (std::abs(sums[i] - constant) > errors[i]) return false;
    }
    return true;
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
    return;
  }
  audit.sum_words = fmt::format("rows sum to {:.4g} to {:.4g}", low, high);
  if (columns_sum_to_one(tensors.answers, 0.02)) {
    audit.findings.emplace_back(
        "softmax over queries: each key's weights sum to 1, not each row's");
    audit.is_explained = false;
  } else if (high < 1.02) {
    find_sink(heads, fits, rounding, audit);
  } else {
    audit.findings.push_back(
        fmt::format("rows of weights do not sum to one number ({:.4g} to {:.4g}), as after dropout",
                    low, high));
    audit.is_explained = false;
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
}

}  // namespace attnscale
