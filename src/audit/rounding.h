// What rounding leaves of a right fit, and what a residual amounts to.
#pragma once

#include <vector>

#include "audit/findings.h"
#include "audit/head_cells.h"

namespace attnscale {

/// How large residuals of a right line would be, by what rounds.
struct RoundingLevels {
  double answers = 0;   ///< as weights (or logits) are written
  double logits = 0;    ///< as if logits had been rounded to bfloat16 before the softmax
  double autocast = 0;  ///< as if queries and keys had been too
  double vectors = 0;   ///< as if queries and keys had been rounded afterwards
  int answer_digits = 1;
  int vector_digits = 1;
  DecimalWriting writing = {};
};

/// Relative error of a number of so many binary digits: standard deviation.
double rounding_of(int digits);

RoundingLevels rounding_levels(const AuditTensors& tensors, const std::vector<HeadCells>& heads,
                               const std::vector<LineFit>& lines);

/// Fills in the residual, its words and whether rounding explains it, in each head as in all.
void judge_residual(const AuditTensors& tensors, const RoundingLevels& levels,
                    const std::vector<LineFit>& fits, TensorAudit& audit);

}  // namespace attnscale
