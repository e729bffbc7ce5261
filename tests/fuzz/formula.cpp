#include <array>
#include <bit>
#include <cmath>

#include "config/nearest_name.h"
#include "formula/derivative.h"
#include "formula/parse.h"
#include "formula/print.h"
#include "formula/program.h"
#include "fuzz/targets.h"

namespace attnscale {
namespace {

constexpr std::array<std::string_view, 2> kOwn{"s", "cap"};

bool is_same(double a, double b) {
  return std::isnan(a) ? std::isnan(b)
                       : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// Whatever is asked of a logit; many scores at once give what each gives alone.
void evaluate(const Formula& formula, const FormulaSize& size) {
  constexpr std::array kScores{0.0, -1.5, 3.0, 1e9, -1e300};
  const FormulaProgram program(formula, size);
  program.is_finite();
  capped_logit(formula, size);
  if (program.norm() != VectorNorm::kNone) return;
  for (const PrecisionSteps& steps : {PrecisionSteps{}, PrecisionSteps{Precision::kBfloat16}}) {
    std::array<double, kScores.size()> logits{};
    std::array<double, kScores.size()> peaks{};
    program.evaluate({.scores = kScores, .stride = kScores.size()}, steps, logits, peaks);
    if (!steps.is_exact()) continue;
    for (std::size_t i = 0; i < kScores.size(); ++i) {
      expect(is_same(logits[i], program.at(kScores[i])), "one score gives what many give");
    }
  }
}

void take(std::string_view bytes, FormulaKind kind) {
  const Formula formula = parse_formula(bytes, kind, kOwn, nearest_name);
  const std::string text = print_formula(formula);
  const Formula again = parse_formula(text, kind, kOwn);
  expect(again == formula, "a formula reads back as it was written");
  expect(print_formula(again) == text, "a formula's text is its own");
  const Formula filled = with_values(formula, {{"s", 0.43}, {"cap", -50.0}});
  for (const FormulaSize& size :
       {FormulaSize{.d = 1}, FormulaSize{.d = 64, .keys = 128, .i = 127}}) {
    value_of(filled, size);
    if (kind == FormulaKind::kLogit) evaluate(filled, size);
  }
  if (kind == FormulaKind::kLogit) print_formula(derivative(filled));
}

}  // namespace

void fuzz_formula(std::string_view bytes) {
  may_refuse([&] { take(bytes, FormulaKind::kLogit); });
  may_refuse([&] { take(bytes, FormulaKind::kNumber); });
}

}  // namespace attnscale
