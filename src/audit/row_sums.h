// What the sums of rows of weights say: a factor after the softmax, a sink, a softmax over queries.
#pragma once

#include <vector>

#include "audit/findings.h"
#include "audit/head_cells.h"

namespace attnscale {

/// True if each row that was summed keeps back what a sink of that logit would, within its error.
bool fits_sink(const TensorAudit& audit, double logit);

/// Fills in what the audit says of sums. `rounding` is the relative error of one weight.
void find_row_sums(const AuditTensors& tensors, const std::vector<HeadCells>& heads,
                   const std::vector<LineFit>& fits, double rounding, TensorAudit& audit);

/// Says where scores are so low that they can only be masks, which nobody said.
void find_large_masks(const AuditTensors& tensors, const std::vector<HeadCells>& heads,
                      TensorAudit& audit);

}  // namespace attnscale
