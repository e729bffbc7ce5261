// The files of an audit: opened, and checked against each other.
#pragma once

#include "app/audit_command.h"
#include "audit/head_cells.h"

namespace attnscale {

/// The tensors that the command names; what they say of the model's sizes goes into the command.
/// Throws UserError.
AuditTensors open_audit_tensors(AuditCommand& command);

}  // namespace attnscale
