// A formula made ready for one d, number of keys and place of the query: its factor where the logit
// is linear in the score, else steps over many scores at once, rounded one by one in a narrow
// precision. The same bits on every machine.
//
// What stands on a bare product, up to its first division, is one factor and one step:
// "2 q.k / sqrt(d)" multiplies once, and "/ cap" after it is a step of its own. What stands inside
// the product, as in (q / sqrt(d)).k, acts before it, without a rounding. What no score enters is
// rounded to double only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formula/constants.h"
#include "numerics/precision_steps.h"

namespace attnscale {

/// What divides each query and key before their product.
enum class VectorNorm : std::uint8_t { kNone, kRms, kUnit, kLayer };

/// Scores of some queries, scores[key * stride + query], and for a norm what it needs of the
/// queries and keys behind them. Those of queries have `stride` numbers, those of keys lie as
/// scores do. For rms of wider vectors the squared norms are the wider vectors'.
struct FormulaScores {
  std::span<const double> scores;
  std::size_t stride = 1;
  double first_key = 0;  ///< the place j of the first key
  std::span<const double> squared_query_norms = {};
  std::span<const double> squared_key_norms = {};
  std::span<const double> query_sums = {};  ///< of all entries; for kLayer only
  std::span<const double> key_sums = {};
};

struct FormulaStep {
  Operation operation = Operation::kNumber;
  std::size_t first = 0;  ///< the steps that it takes its operands from
  std::size_t second = 0;
  double number = 0;      ///< of kNumber
  std::size_t place = 0;  ///< in the formula, of the node that it computes
  bool of_score = false;  ///< else of numbers and places alone
};

class FormulaProgram {
 public:
  FormulaProgram(const Formula& formula, const FormulaSize& size);

  /// The factor, if the logit is that times the score, with or without an offset.
  const std::optional<LinearPart>& linear() const { return linear_; }

  /// The factor's value, if the logit is that times the score and nothing else.
  const std::optional<double>& factor() const { return factor_; }

  /// False where a number that it needs is not finite, such as 1 / ln(keys) of one key.
  bool is_finite() const;

  VectorNorm norm() const { return norm_; }
  /// Entries of the vectors whose norms are taken: d but for rms of wider vectors.
  double query_width() const { return query_width_; }
  double key_width() const { return key_width_; }

  /// How many of them change from score to score.
  std::size_t steps_of_score() const;

  /// The first two are the score and j.
  const std::vector<FormulaStep>& steps() const { return steps_; }

  /// Logits of the scores; in a narrow precision the product (after norms and with the factors
  /// inside) is rounded to that of products, each later step and the result to that of logits.
  /// `logits` may be the scores' memory. Each of `peaks`, if there are any, is raised to the
  /// largest magnitude that a step of its logit had: infinite where one overflowed.
  void evaluate(const FormulaScores& scores, const PrecisionSteps& precision,
                std::span<double> logits, std::span<double> peaks = {}) const;

  /// In float64, of one score after its norm, to a key at place j.
  double at(double score, double j = 0) const;

 private:
  void take_norms(const Formula& formula, const FormulaConstants& constants);
  void normalise(const FormulaScores& scores, std::span<double> out) const;
  void run(const FormulaScores& scores, const PrecisionSteps& precision, std::span<double> logits,
           std::span<double> peaks) const;

  FormulaSize size_;
  VectorNorm norm_ = VectorNorm::kNone;
  double query_width_;
  double key_width_;
  std::optional<LinearPart> linear_;
  std::optional<double> factor_;
  std::vector<FormulaStep> steps_;
  std::size_t result_ = 0;   ///< the step that is the logit
  bool has_places_ = false;  ///< whether a step takes j
};

}  // namespace attnscale
