// Which usual mistake explains what enters a softmax: from numbers (a spread or a factor), or from
// the tensors of a layer.
#pragma once

#include <cstddef>

#include "app/audit_command.h"
#include "app/process.h"

namespace attnscale {

/// The answer for the screen, `width` characters wide, or JSON; its code is kDone where all is
/// explained, and is as it is meant if that is said. Throws UserError for files that are wrong or
/// do not fit each other.
Answer audit(AuditCommand command, std::size_t width);

}  // namespace attnscale
