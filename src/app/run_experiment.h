// The commands that write the files of a run.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "config/overrides.h"
#include "config/user_error.h"
#include "execution/executor.h"
#include "execution/shard.h"
#include "report/progress.h"

namespace attnscale {

/// What to do if the folder already holds another run.
enum class OtherRun { kRefuse, kReplace };

/// Whether tables are printed after a run.
enum class Verbosity { kNormal, kQuiet };

/// How a run is written.
struct WritingOptions {
  Verbosity verbosity = Verbosity::kNormal;
  OtherRun other_run = OtherRun::kRefuse;
  std::vector<std::string> arguments = {};  ///< as given, for the manifest
  int threads = 1;
};

struct RunCommand {
  std::string config;
  std::optional<std::string> out;
  std::vector<Override> overrides;  ///< of --set and --seed
  std::optional<Shard> shard;
  std::optional<std::chrono::duration<double>> time_limit;
  ProgressForm progress = ProgressForm::kAuto;
  WritingOptions writing;
};

/// Does what `attnscale run` promises: tables on stdout, everything else on stderr. Throws
/// UserError before anything is created if the input is wrong, and std::exception if the run
/// fails; what was measured until the last checkpoint is then kept.
ExitCode run_experiment(const RunCommand& command, Executor& executor);

/// Does what `attnscale merge` promises: into `out` the files of the run that the shards in these
/// folders, in any order, are parts of.
ExitCode merge_experiment(const std::string& out, const std::vector<std::string>& shards,
                          const WritingOptions& writing);

/// Does what `attnscale pool` promises: the tables of one run from runs with other seeds.
ExitCode pool_experiment(const std::string& out, const std::vector<std::string>& runs,
                         const WritingOptions& writing);

}  // namespace attnscale
