#include "app/run_experiment.h"

#include <chrono>
#include <iostream>
#include <optional>

#include "app/fingerprint.h"
#include "app/finish_run.h"
#include "app/report_run.h"
#include "app/run_folder.h"
#include "app/run_journal.h"
#include "app/run_progress.h"
#include "config/config.h"
#include "execution/checkpoint.h"
#include "execution/shards.h"
#include "execution/stop.h"
#include "io/folder_lock.h"
#include "io/result_tables.h"
#include "numerics/vector_target.h"

namespace attnscale {
namespace {

namespace fs = std::filesystem;

LoadedConfig load(const RunCommand& command) {
  LoadedConfig loaded = load_config(command.config, command.overrides);
  if (!vector_target_keeps_bytes()) {
    loaded.warnings.push_back("this machine has no AVX2 with FMA (" + vector_target() +
                              "): results are right, but not byte for byte those of machines that "
                              "have it");
  }
  return loaded;
}

// What the folder holds; another run is refused unless it is to be replaced.
FolderContents look_into(const fs::path& folder, const WantedRun& wanted, OtherRun other_run) {
  FolderContents contents = inspect_folder(folder, wanted);
  if (contents.state == FolderState::kOther && other_run == OtherRun::kRefuse) {
    throw UserError(contents.difference +
                    ". Write elsewhere with --out DIR, or replace it with --force");
  }
  return contents;
}

// A folder that this process alone writes to: made, locked, looked into again now that nobody else
// can change it, and cleared of another run.
struct ClaimedFolder {
  ClaimedFolder(const fs::path& folder, const WantedRun& wanted, OtherRun other_run)
      : lock((make_folder(folder), folder)), contents(look_into(folder, wanted, other_run)) {
    if (contents.state != FolderState::kOther) return;
    clear_folder(folder);
    contents = {};
  }

  FolderLock lock;
  FolderContents contents;
};

// Tells of a run that is finished already.
ExitCode tell_again(const fs::path& folder, ExitCode code, std::optional<Shard> shard,
                    Verbosity verbosity) {
  std::cerr << folder.string() << " holds this run already, finished"
            << (code == ExitCode::kTargetNotReached ? ", a precision target not reached" : "")
            << "; nothing to do\n";
  if (verbosity == Verbosity::kNormal && !shard) {
    print_report(read_results(folder), formula_lines_of(folder));
  }
  return code;
}

// What was measured before, cell by cell.
std::vector<CellLedger> measured_before(const Plan& plan, FolderContents contents) {
  if (contents.checkpoint) return std::move(contents.checkpoint->cells);
  return std::vector<CellLedger>(plan.cells.size());
}

bool measure(const WantedRun& wanted, const RunCommand& command, const fs::path& folder,
             const StopRequest& stop, Executor& executor, Ledger& ledger, RunJournal& journal) {
  RunProgress progress(wanted.plan, ledger, command);
  ExecutorOptions options;
  options.threads = command.threads;
  options.stop = stop.signal();
  options.progress = [&](std::size_t cell, std::int64_t queries) { progress.add(cell, queries); };
  options.cell_done = [&](std::size_t cell) {
    progress.cell_done(cell, ledger.queries_done(cell));
    journal.cell_done(wanted.plan, cell);
  };
  bool is_long = false;
  options.checkpoint = [&] {
    is_long = true;
    save_checkpoint(folder, wanted.identity, ledger);
    journal.checkpoint(ledger.queries_done());
  };
  const bool finished = executor.measure(wanted.plan, ledger, options);
  // A shard's checkpoint is its result; that of a long run is there if its end is cut short.
  if (!finished || wanted.shard || is_long) options.checkpoint();
  return finished;
}

ExitCode interrupt(const StopRequest& stop, const Ledger& ledger, RunJournal& journal) {
  journal.end(RunStatus::kInterrupted, ExitCode::kInterrupted, {std::string(kCheckpointName)});
  std::cerr << "stopped by " << stop.reason() << " after " << ledger.queries_done()
            << " queries; the same command goes on from here\n";
  return ExitCode::kInterrupted;
}

// Writes what a complete ledger says; the results come from estimate_run.
ExitCode finish(const WantedRun& wanted, const fs::path& folder, const FinishedRun& finished,
                Verbosity verbosity, RunJournal& journal) {
  for (const std::string& warning : finished.warnings) {
    std::cerr << "warning: " << warning << "\n";
    journal.warning(warning);
  }
  journal.end(RunStatus::kFinished, finished.exit_code,
              write_run(folder, wanted.plan.config, finished.results));
  fs::remove(folder / kCheckpointName);
  if (verbosity == Verbosity::kNormal) {
    print_report(finished.results, formula_lines(wanted.plan.config));
  }
  std::cerr << "wrote " << folder.string() << "\n";
  return finished.exit_code;
}

ExitCode finish_shard(const WantedRun& wanted, const fs::path& folder, RunJournal& journal) {
  journal.end(RunStatus::kFinished, ExitCode::kDone, {std::string(kCheckpointName)});
  std::cerr << "wrote " << folder.string() << ", " << part_name(wanted.shard)
            << "; join all of them with attnscale merge\n";
  return ExitCode::kDone;
}

std::optional<std::chrono::duration<double>> time_limit_of(const RunCommand& command) {
  if (!command.time_limit_seconds) return std::nullopt;
  return std::chrono::duration<double>(*command.time_limit_seconds);
}

}  // namespace

ExitCode run_experiment(const RunCommand& command, Executor& executor) {
  const StopRequest stop(time_limit_of(command));
  const LoadedConfig loaded = load(command);
  const Plan plan = make_plan(loaded.config);
  const WantedRun wanted{plan, identity_of(loaded.config), command.shard};
  const fs::path folder = results_folder(command, loaded.config);
  const FolderContents found = look_into(folder, wanted, command.other_run);
  if (found.state == FolderState::kFinished) {
    return tell_again(folder, found.exit_code, wanted.shard, command.verbosity);
  }
  for (const std::string& warning : loaded.warnings) std::cerr << "warning: " << warning << "\n";

  ClaimedFolder claimed(folder, wanted, command.other_run);
  if (claimed.contents.state == FolderState::kFinished) {
    return tell_again(folder, claimed.contents.exit_code, wanted.shard, command.verbosity);
  }
  RunJournal journal(folder, loaded, command, part_name(wanted.shard));
  try {
    if (!claimed.contents.warning.empty()) {
      std::cerr << "warning: " << claimed.contents.warning << "\n";
      journal.warning(claimed.contents.warning);
    }
    Ledger ledger(plan, command.shard.value_or(Shard{}),
                  measured_before(plan, std::move(claimed.contents)));
    if (const auto queries = ledger.queries_done()) {
      std::cerr << "going on after " << queries << " queries\n";
    }
    if (!measure(wanted, command, folder, stop, executor, ledger, journal)) {
      return interrupt(stop, ledger, journal);
    }
    if (wanted.shard) return finish_shard(wanted, folder, journal);
    const auto finished = estimate_run(plan, ledger, stop.signal());
    if (!finished) {
      save_checkpoint(folder, wanted.identity, ledger);
      return interrupt(stop, ledger, journal);
    }
    return finish(wanted, folder, *finished, command.verbosity, journal);
  } catch (...) {
    journal.fail();
    throw;
  }
}

ExitCode merge_experiment(const MergeCommand& command) {
  const fs::path folder = command.out;
  const std::vector<fs::path> shards(command.shards.begin(), command.shards.end());
  for (const fs::path& shard : shards) {
    std::error_code unreadable;
    if (fs::equivalent(folder, shard, unreadable)) {
      throw UserError("attnscale merge: " + folder.string() +
                      " is to be written and is one of the shards; name another folder first");
    }
  }
  MergedRun merged = [&] {
    try {
      return merge_shards(shards, [](const std::string& text) {
        return parse_config(text, "a shard's checkpoint").config;
      });
    } catch (const ShardMismatch& error) {
      throw UserError(error.what(), ExitCode::kMismatch);
    }
  }();
  const WantedRun wanted{merged.plan, merged.identity, std::nullopt};
  const FolderContents found = look_into(folder, wanted, command.other_run);
  if (found.state == FolderState::kFinished) {
    return tell_again(folder, found.exit_code, std::nullopt, command.verbosity);
  }
  const ClaimedFolder claimed(folder, wanted, command.other_run);
  if (claimed.contents.state == FolderState::kFinished) {
    return tell_again(folder, claimed.contents.exit_code, std::nullopt, command.verbosity);
  }
  RunCommand as_run;
  as_run.arguments = command.arguments;
  RunJournal journal(folder, {merged.plan.config, {}}, as_run, part_name(std::nullopt));
  try {
    const Ledger ledger(merged.plan, {}, std::move(merged.cells));
    return finish(wanted, folder, *estimate_run(merged.plan, ledger), command.verbosity, journal);
  } catch (...) {
    journal.fail();
    throw;
  }
}

}  // namespace attnscale
