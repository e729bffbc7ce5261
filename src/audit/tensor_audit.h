// What is between the queries and keys of a layer and its weights: a factor, and what else. Every
// number is computed from the tensors, none is guessed. Knows no names of factors.
#pragma once

#include "audit/findings.h"
#include "audit/head_cells.h"

namespace attnscale {

/// Throws std::invalid_argument where weights are none.
TensorAudit audit_tensors(const AuditTensors& tensors);

}  // namespace attnscale
