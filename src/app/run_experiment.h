// The commands that write the files of a run.
#pragma once

#include "app/command_line.h"
#include "config/user_error.h"
#include "execution/executor.h"

namespace attnscale {

/// Does what `attnscale run` promises: tables on stdout, everything else on stderr. Throws
/// UserError before anything is created if the input is wrong, and std::exception if the run
/// fails; what was measured until the last checkpoint is then kept.
ExitCode run_experiment(const RunCommand& command, Executor& executor);

/// Does what `attnscale merge` promises: the files of the run that the shards are parts of.
ExitCode merge_experiment(const MergeCommand& command);

/// Does what `attnscale pool` promises: the tables of one run from runs with other seeds.
ExitCode pool_experiment(const PoolCommand& command);

}  // namespace attnscale
