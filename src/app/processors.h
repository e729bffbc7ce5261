// How many processors this process may use.
#pragma once

namespace attnscale {

/// Processors in this process's affinity mask, at least 1.
int available_processors();

}  // namespace attnscale
