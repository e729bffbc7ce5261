// The whole story of a run on one page: read, plan, measure, estimate, write, tell.
#pragma once

#include "app/command_line.h"
#include "app/user_error.h"

namespace attnscale {

/// Does what `attnscale run` promises (design 3.1): tables on stdout, everything else on stderr.
/// Throws UserError before anything is created where the input is wrong, and std::exception where
/// the run fails; its folder's manifest then says so.
ExitCode run_experiment(const RunCommand& command);

}  // namespace attnscale
