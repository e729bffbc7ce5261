// What each command does. Those that measure nothing return what belongs on stdout.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

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

/// The lines that two runs have in common, and how far apart they are.
std::string compare_text(const CompareCommand& command, std::size_t width);

/// Cells, blocks, formulas and expected processor seconds of a config; `width` is that of the
/// screen in characters. Warnings go to `warnings`.
std::string plan_text(const PlanCommand& command, std::size_t width,
                      std::vector<std::string>& warnings);

/// The tables of finished runs.
std::string show_text(const ShowCommand& command, std::size_t width);

/// Score, logit, weight and slope of each of a list of scores, and a bar for the weight, under each
/// scaling that it can have.
std::string softmax_text(const SoftmaxCommand& command, std::size_t width);

struct Verification {
  std::string text;  ///< what was checked and what was found, for the screen
  ExitCode code;     ///< kDone or kMismatch
};

/// Re-hashes the files of the run in `folder` against its manifest; compares the lines of
/// summary.csv with those that its config asks for, their queries and exact values; and checks that
/// every estimate is as near to its exact value as reference_check.h allows. Throws UserError if
/// the folder holds no finished run.
Verification verify_folder(const std::filesystem::path& folder);

}  // namespace attnscale
