// Groups of work on threads of this process; their order is the runner's promise.
#pragma once

#include "experiment/group_runner.h"

namespace attnscale {

/// A runner with that many workers, each on a thread of its own; the caller's is one. An exception
/// in any of them ends all and is thrown again.
GroupRunner on_threads(int threads);

}  // namespace attnscale
