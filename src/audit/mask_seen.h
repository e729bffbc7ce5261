// Which keys the weights of a layer show to its queries.
#pragma once

#include <vector>

#include "audit/findings.h"
#include "audit/head_cells.h"

namespace attnscale {

/// Fills the mask's words from the weights of 0, of which those that the fit expects to be lost to
/// rounding do not count, and adds a finding where the mask is not the one that the user says.
void find_mask(const AuditTensors& tensors, const std::vector<HeadCells>& heads,
               const std::vector<LineFit>& fits, TensorAudit& audit);

}  // namespace attnscale
