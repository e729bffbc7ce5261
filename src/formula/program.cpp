#include "formula/program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

#include "formula/step_kernel.h"
#include "numerics/portable_math.h"

namespace attnscale {
namespace {

// The first steps are what comes from outside.
constexpr std::size_t kScore = 0;
constexpr std::size_t kPlaceOfKey = 1;
constexpr std::size_t kChunk = 128;  // numbers at once: those of all steps fit the nearest cache

/// Makes the steps of a formula, each after those that it needs.
class StepMaker {
 public:
  StepMaker(const Formula& formula, const FormulaConstants& constants, const LinearParts& linear,
            double d)
      : formula_(formula), constants_(constants), linear_(linear), d_(d), steps_(2) {
    steps_[kScore].of_score = true;
  }

  /// The step that computes the node at a place.
  std::size_t make(std::size_t place) {
    const FormulaNode& node = formula_[place];
    if (constants_[place]) return add_number(constants_[place]->at(d_), place);
    if (node.operation == Operation::kName) return kPlaceOfKey;
    if (is_vector(node.operation)) return add_number(1, place);
    if (node.operation == Operation::kDot && linear_[place]) return scaled(kScore, place);
    if (factor_on(place) != Factor::kNone) return scaled(make(dot_below(place)), place);
    if (node.operation == Operation::kPower) return make_power(place);
    const std::size_t first = make(formula_.first(place));
    const std::size_t second = formula_.operands(place) == 1 ? first : make(formula_.second(place));
    if (node.operation != Operation::kDot) return add(node.operation, first, second, place);
    // A factor inside depends on j.
    return add(Operation::kMultiply, kScore, add(Operation::kMultiply, first, second, place),
               place);
  }

  std::vector<FormulaStep> steps() && { return std::move(steps_); }

 private:
  // Whether a node is a bare product times numbers, and whether it was divided by one already.
  enum class Factor { kNone, kOpen, kDivided };

  Factor factor_on(std::size_t place) const {
    const Operation operation = formula_[place].operation;
    const auto is_open = [&](std::size_t operand) { return factor_on(operand) == Factor::kOpen; };
    if (operation == Operation::kDot) return is_bare(place) ? Factor::kOpen : Factor::kNone;
    if (formula_.operands(place) == 0) return Factor::kNone;
    const std::size_t first = formula_.first(place);
    const std::size_t second = formula_.second(place);
    if (operation == Operation::kNegate && is_open(first)) return Factor::kOpen;
    if (operation == Operation::kMultiply && constants_[first] && is_open(second)) {
      return Factor::kOpen;
    }
    if (!constants_[second] || !is_open(first)) return Factor::kNone;
    if (operation == Operation::kMultiply) return Factor::kOpen;
    return operation == Operation::kDivide ? Factor::kDivided : Factor::kNone;
  }

  bool is_bare(std::size_t dot) const {
    return is_vector(formula_[formula_.first(dot)].operation) &&
           is_vector(formula_[formula_.second(dot)].operation);
  }

  std::size_t dot_below(std::size_t place) const {
    while (formula_[place].operation != Operation::kDot) --place;
    return place;
  }

  std::size_t scaled(std::size_t score, std::size_t place) {
    const std::size_t factor = add_number(linear_[place]->slope.at(d_), place);
    return add(Operation::kMultiply, score, factor, place);
  }

  // A few powers are more exact by other means.
  std::size_t make_power(std::size_t place) {
    const std::size_t base = formula_.first(place);
    const std::size_t exponent = formula_.second(place);
    const auto value = [&](std::size_t of) {
      return constants_[of] ? constants_[of]->at(d_) : kNan;
    };
    if (value(base) == std::numbers::e) {
      const std::size_t step = make(exponent);
      return add(Operation::kExp, step, step, place);
    }
    const std::size_t step = make(base);
    if (value(exponent) == 1) return step;
    if (value(exponent) == 2) return add(Operation::kMultiply, step, step, place);
    if (value(exponent) == 0.5) return add(Operation::kSqrt, step, step, place);
    if (value(exponent) == -1) return add(Operation::kDivide, add_number(1, place), step, place);
    return add(Operation::kPower, step, make(exponent), place);
  }

  std::size_t add_number(double number, std::size_t place) {
    return add({.number = number, .place = place});
  }

  std::size_t add(Operation operation, std::size_t first, std::size_t second, std::size_t place) {
    const bool of_score = steps_[first].of_score || steps_[second].of_score;
    return add({operation, first, second, 0, place, of_score});
  }

  // What occurs twice is computed once.
  std::size_t add(const FormulaStep& step) {
    for (std::size_t s = kPlaceOfKey + 1; s < steps_.size(); ++s) {
      const FormulaStep& other = steps_[s];
      if (other.operation == step.operation && other.first == step.first &&
          other.second == step.second && other.number == step.number) {
        return s;
      }
    }
    steps_.push_back(step);
    return steps_.size() - 1;
  }

  const Formula& formula_;
  const FormulaConstants& constants_;
  const LinearParts& linear_;
  double d_;
  std::vector<FormulaStep> steps_;
};

// What is left of a squared norm without the mean; of equal entries only rounding would be.
double centred(double squared_norm, double sum, double d) {
  constexpr double kRounding = 0x1p-46;
  const double left = squared_norm - sum * (sum / d);
  return left > squared_norm * kRounding ? left : 0;
}

// The places of the keys of numbers from `start` on, a run of equal ones for each key.
void fill_places(const FormulaScores& scores, std::size_t start, std::span<double> places) {
  for (std::size_t n = 0; n < places.size();) {
    const std::size_t key = (start + n) / scores.stride;
    const std::size_t end = std::min(places.size(), (key + 1) * scores.stride - start);
    std::ranges::fill(places.subspan(n, end - n), scores.first_key + static_cast<double>(key));
    n = end;
  }
}

// Numbers as another precision holds them, and the largest magnitude there was so far.
void finish_step(Precision precision, std::span<double> numbers, std::span<double> peaks) {
  if (precision != Precision::kFloat64) round_all(precision, numbers);
  for (std::size_t n = 0; n < peaks.size(); ++n) {
    constexpr double kUnbounded = std::numeric_limits<double>::infinity();
    const double magnitude = std::abs(numbers[n]);
    peaks[n] = std::max(peaks[n], magnitude < kUnbounded ? magnitude : kUnbounded);
  }
}

}  // namespace

FormulaProgram::FormulaProgram(const Formula& formula, const FormulaSize& size)
    : size_(size), query_width_(size.d), key_width_(size.d) {
  const FormulaConstants constants = constants_of(formula, size);
  const LinearParts parts = linear_parts(formula, constants, size.d);
  take_norms(formula, constants);
  linear_ = parts.back();
  if (linear_ && !linear_->has_offset) factor_ = linear_->slope.at(size.d);
  StepMaker maker(formula, constants, parts, size.d);
  result_ = maker.make(formula.root());
  steps_ = std::move(maker).steps();
  has_places_ = result_ == kPlaceOfKey || std::ranges::any_of(steps_, [](const FormulaStep& step) {
                  return step.operation != Operation::kNumber &&
                         (step.first == kPlaceOfKey || step.second == kPlaceOfKey);
                });
}

// Of the first product: the others have the same.
void FormulaProgram::take_norms(const Formula& formula, const FormulaConstants& constants) {
  std::vector<double> widths;
  for (std::size_t place = 0; place < constants.size(); ++place) {
    if (formula[place].operation < Operation::kRms) continue;
    // Norms follow one another in both enums.
    norm_ = static_cast<VectorNorm>(1 + static_cast<int>(formula[place].operation) -
                                    static_cast<int>(Operation::kRms));
    const auto& width = constants[formula.second(place)];
    widths.push_back(width ? width->at(size_.d) : size_.d);
  }
  if (widths.empty()) return;
  query_width_ = widths[0];
  key_width_ = widths[1];
}

bool FormulaProgram::is_finite() const {
  return std::isfinite(query_width_) && std::isfinite(key_width_) &&
         std::isfinite(factor_.value_or(0)) &&
         std::ranges::all_of(steps_,
                             [](const FormulaStep& step) { return std::isfinite(step.number); });
}

std::size_t FormulaProgram::steps_of_score() const {
  return static_cast<std::size_t>(std::ranges::count(steps_, true, &FormulaStep::of_score)) - 1;
}

void FormulaProgram::evaluate(const FormulaScores& scores, const PrecisionSteps& precision,
                              std::span<double> logits, std::span<double> peaks) const {
  FormulaScores normed = scores;
  if (norm_ != VectorNorm::kNone) {
    normalise(scores, logits);
    normed.scores = logits;
  }
  if (factor_ && precision.has_exact_logits() && peaks.empty()) {
    const double factor = *factor_;
    std::ranges::transform(normed.scores, logits.begin(),
                           [=](double score) { return score * factor; });
  } else {
    run(normed, precision, logits, peaks);
  }
}

// 0 where a norm is 0.
void FormulaProgram::normalise(const FormulaScores& scores, std::span<double> out) const {
  const double factor = norm_ == VectorNorm::kUnit ? 1 : std::sqrt(query_width_ * key_width_);
  for (std::size_t start = 0; start < out.size(); start += scores.stride) {
    for (std::size_t query = 0; query < scores.stride; ++query) {
      const std::size_t n = start + query;
      double score = scores.scores[n];
      double squared_query = scores.squared_query_norms[query];
      double squared_key = scores.squared_key_norms[n];
      if (norm_ == VectorNorm::kLayer) {
        score -= scores.query_sums[query] * (scores.key_sums[n] / size_.d);
        squared_query = centred(squared_query, scores.query_sums[query], size_.d);
        squared_key = centred(squared_key, scores.key_sums[n], size_.d);
      }
      // Two roots: the product of the squares might overflow.
      const double lengths = std::sqrt(squared_query) * std::sqrt(squared_key);
      // Of single numbers the cosine is a sign, which rounded lengths need not leave whole.
      const bool is_sign = size_.d == 1 && query_width_ == 1 && key_width_ == 1;
      const double cosine = is_sign ? std::copysign(1.0, score) : score / lengths;
      out[n] = lengths > 0 ? factor * cosine : 0;
    }
  }
}

void FormulaProgram::run(const FormulaScores& scores, const PrecisionSteps& precision,
                         std::span<double> logits, std::span<double> peaks) const {
  const std::size_t chunk = std::min(kChunk, logits.size());
  const auto memory = std::make_unique_for_overwrite<double[]>(steps_.size() * chunk);
  const auto memory_of = [&](std::size_t step) { return memory.get() + step * chunk; };
  for (std::size_t s = kPlaceOfKey + 1; s < steps_.size(); ++s) {
    if (steps_[s].operation == Operation::kNumber) {
      std::fill_n(memory_of(s), chunk, steps_[s].number);
    }
  }
  for (std::size_t start = 0; start < logits.size(); start += chunk) {
    const std::size_t count = std::min(chunk, logits.size() - start);
    const auto numbers_of = [&](std::size_t step) -> const double* {
      return step == kScore ? scores.scores.data() + start : memory_of(step);
    };
    if (has_places_) fill_places(scores, start, {memory_of(kPlaceOfKey), count});
    for (std::size_t s = kPlaceOfKey + 1; s < steps_.size(); ++s) {
      const FormulaStep& step = steps_[s];
      if (step.operation == Operation::kNumber) continue;
      // The logit is the last step: nothing else is read after it.
      double* const out = s == result_ ? logits.data() + start : memory_of(s);
      apply_step(step.operation, numbers_of(step.first), numbers_of(step.second), out, count);
      if (!step.of_score) continue;
      const std::span<double> numbers{out, count};
      const std::span<double> magnitudes = peaks.empty() ? peaks : peaks.subspan(start, count);
      // A step that takes the bare score is the product; where it is all, it is the logit too.
      const bool is_product = step.first == kScore;
      finish_step(is_product ? precision.product : precision.logit, numbers, magnitudes);
      if (is_product && s == result_) finish_step(precision.logit, numbers, magnitudes);
    }
    // No step wrote the logit: a slope that is a number, the score or a place.
    if (steps_[result_].operation == Operation::kNumber) {
      std::copy_n(numbers_of(result_), count, logits.data() + start);
    }
  }
}

double FormulaProgram::at(double score, double j) const {
  double logit = 0;
  run({.scores = {&score, 1}, .first_key = j}, Precision::kFloat64, {&logit, 1}, {});
  return logit;
}

}  // namespace attnscale
