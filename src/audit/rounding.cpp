#include "audit/rounding.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace attnscale {
namespace {

constexpr double kNear = 1.5;  // times a level: a residual that it explains

std::string_view format_name(int digits) {
  if (digits <= 3) return "float8_e5m2";
  if (digits == 4) return "float8_e4m3fn";
  if (digits <= 8) return "bfloat16";
  if (digits <= 11) return "float16";
  return digits <= 24 ? "float32" : "float64";
}

std::string writing_words(const RoundingLevels& levels) {
  return levels.writing ? levels.writing.words() : std::string(format_name(levels.answer_digits));
}

// A head that rounding should treat as the others, and that leaves far more than they do.
void find_other_residual(const RoundingLevels& levels, const std::vector<LineFit>& fits,
                         TensorAudit& audit) {
  constexpr double kFar = 3;
  std::vector<double> shares;  // of a residual beside what weights of that spread leave
  const auto share_of = [&](const LineFit& fit) {
    return fit.residual /
           (levels.answers + rounding_of(levels.vector_digits) * PooledFits({fit}).spread());
  };
  for (const LineFit& fit : fits) {
    if (fit.count > 0) shares.push_back(share_of(fit));
  }
  const double usual = median(shares);
  for (std::size_t h = 0; h < fits.size(); ++h) {
    if (fits[h].count == 0 || fits[h].residual <= kNear * levels.answers) continue;
    if (share_of(fits[h]) <= kFar * usual) continue;
    audit.findings.push_back(
        fmt::format("head {} leaves {:.2g} of a logit, {:.2g} times what most "
                    "heads do",
                    h, fits[h].residual, share_of(fits[h]) / usual));
    audit.residual_is_explained = false;
    return;
  }
}

}  // namespace

double rounding_of(int digits) {
  constexpr double kRounding = 0.2123;  // sd of an error, in units of the last of its digits
  return kRounding * std::ldexp(1.0, 1 - digits);
}

RoundingLevels rounding_levels(const AuditTensors& t, const std::vector<HeadCells>& heads,
                               const std::vector<LineFit>& lines) {
  RoundingLevels levels;
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
  const double products = std::sqrt(2 * vectors / n);  // of the components of queries and keys
  constexpr double kFloat32 = 5e-7;  // what a sum and an exponential in float32 leave
  // Scores are rounded with what is added to all of a row.
  const double size =
      t.are_weights ? 1 : std::max(logits, std::sqrt(stored / std::max(cells, 1.0)));
  levels.answers = std::max(rounding_of(levels.answer_digits) * size, kFloat32 * (1 + logits));
  for (const HeadCells& head : heads) {
    if (head.writing_error < levels.answers) continue;
    levels.answers = head.writing_error;
    levels.writing = head.writing;
  }
  levels.logits = levels.answers + rounding_of(8) * logits;
  levels.autocast = levels.logits + rounding_of(8) * products;
  levels.vectors = std::max(levels.answers, rounding_of(levels.vector_digits) * products);
  return levels;
}

void judge_residual(const AuditTensors& t, const RoundingLevels& levels,
                    const std::vector<LineFit>& fits, TensorAudit& audit) {
  const std::string_view answers = t.are_weights ? "weights" : "scores";
  audit.residual = PooledFits(fits).residual();
  audit.resolution = levels.answers;
  audit.residual_is_explained = true;
  if (audit.residual <= kNear * levels.answers) {
    audit.residual_words = fmt::format("as {} rounds {}: nothing else is between q.k and the {}",
                                       writing_words(levels), answers, answers);
  } else if (audit.residual <= kNear * levels.logits && levels.answer_digits <= 24) {
    audit.residual_words = "as bfloat16 rounds logits before the softmax: nothing else is there";
  } else if (audit.residual <= kNear * levels.vectors) {
    audit.residual_words =
        fmt::format("as if queries and keys had been rounded to {} after they were used",
                    format_name(levels.vector_digits));
  } else if (audit.residual <= kNear * levels.autocast && levels.answer_digits <= 24) {
    audit.residual_words = "as bfloat16 rounds queries, keys and logits before the softmax";
  } else {
    audit.residual_is_explained = false;
    audit.residual_words = fmt::format("{:.3g} times what rounding leaves",
                                       audit.residual / std::max(levels.answers, 1e-300));
  }
  if (audit.residual_is_explained) find_other_residual(levels, fits, audit);
}

}  // namespace attnscale
