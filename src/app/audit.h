// Which usual mistake explains what enters a softmax: from numbers (a spread or a factor), or from
// the tensors of a layer.
#pragma once

#include <cstddef>
#include <string>

#include "app/audit_command.h"
#include "config/user_error.h"

namespace attnscale {

struct AuditAnswer {
  std::string text;
  ExitCode code;  ///< kDone where all is explained, and is as it is meant if that is said
};

/// The answer for the screen, `width` characters wide, or JSON. Throws UserError for files that are
/// wrong or do not fit each other.
AuditAnswer audit(AuditCommand command, std::size_t width);

}  // namespace attnscale
