#include "app/run_experiment.h"

#include <chrono>
#include <iostream>

#include "app/config.h"
#include "app/fingerprint.h"
#include "app/finish_run.h"
#include "app/report_run.h"
#include "app/run_folder.h"
#include "app/run_journal.h"
#include "app/run_progress.h"
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

void refuse_other(const FolderContents& contents) {
  throw UserError(contents.difference +
                  ". Write elsewhere with --out DIR, or replace it with --force");
}

// Tells of a run that is finished already.
ExitCode tell_again(const fs::path& folder, ExitCode code, Shard shard, Verbosity verbosity) {
  std::cerr << folder.string() << " holds this run already, finished"
            << (code == ExitCode::kTargetNotReached ? ", a precision target not reached" : "")
            << "; nothing to do\n";
  if (verbosity == Verbosity::kNormal && shard == Shard{}) print_report(read_results(folder));
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
  options.checkpoint = [&] {
    save_checkpoint(folder, wanted.identity, ledger);
    journal.checkpoint(ledger.queries_done());
  };
  const bool finished = executor.measure(wanted.plan, ledger, options);
  // A shard's checkpoint is its result.
  if (!finished || wanted.shard != Shard{}) options.checkpoint();
  return finished;
}

ExitCode finish(const WantedRun& wanted, const fs::path& folder, const Ledger& ledger,
                Verbosity verbosity, RunJournal& journal) {
  if (wanted.shard != Shard{}) {
    journal.end(RunStatus::kFinished, ExitCode::kDone, {std::string(kCheckpointName)});
    std::cerr << "wrote " << folder.string() << ", " << to_string(wanted.shard)
              << "; join all of them with attnscale merge\n";
    return ExitCode::kDone;
  }
  const auto [results, warnings, code] = estimate_run(wanted.plan, ledger);
  for (const std::string& warning : warnings) {
    std::cerr << "warning: " << warning << "\n";
    journal.warning(warning);
  }
  journal.end(RunStatus::kFinished, code, write_run(folder, wanted.plan.config, results));
  fs::remove(folder / kCheckpointName);
  if (verbosity == Verbosity::kNormal) print_report(results);
  std::cerr << "wrote " << folder.string() << "\n";
  return code;
}

}  // namespace

ExitCode run_experiment(const RunCommand& command, Executor& executor) {
  const LoadedConfig loaded = load(command);
  const Plan plan = make_plan(loaded.config);
  const WantedRun wanted{plan, identity_of(loaded.config), command.shard.value_or(Shard{})};
  const fs::path folder = results_folder(command, loaded.config);
  const auto refused = [&](const FolderContents& contents) {
    return contents.state == FolderState::kOther && command.other_run == OtherRun::kRefuse;
  };
  {
    const FolderContents found = inspect_folder(folder, wanted);
    if (refused(found)) refuse_other(found);
    if (found.state == FolderState::kFinished) {
      return tell_again(folder, found.exit_code, wanted.shard, command.verbosity);
    }
  }
  for (const std::string& warning : loaded.warnings) std::cerr << "warning: " << warning << "\n";

  std::optional<std::chrono::duration<double>> time_limit;
  if (command.time_limit_seconds) time_limit.emplace(*command.time_limit_seconds);
  const StopRequest stop(time_limit);
  make_folder(folder);
  const FolderLock lock(folder);
  // Looked at again, now that nobody else can change it.
  FolderContents contents = inspect_folder(folder, wanted);
  if (refused(contents)) refuse_other(contents);
  if (contents.state == FolderState::kFinished) {
    return tell_again(folder, contents.exit_code, wanted.shard, command.verbosity);
  }
  if (contents.state == FolderState::kOther) clear_folder(folder);

  RunJournal journal(folder, loaded, command, wanted.shard);
  try {
    Ledger ledger(plan, wanted.shard, measured_before(plan, std::move(contents)));
    if (const auto queries = ledger.queries_done()) {
      std::cerr << "going on after " << queries << " queries\n";
    }
    if (measure(wanted, command, folder, stop, executor, ledger, journal)) {
      return finish(wanted, folder, ledger, command.verbosity, journal);
    }
    journal.end(RunStatus::kInterrupted, ExitCode::kInterrupted, {std::string(kCheckpointName)});
    std::cerr << "stopped by " << stop.reason() << " after " << ledger.queries_done()
              << " queries; the same command goes on from here\n";
    return ExitCode::kInterrupted;
  } catch (...) {
    journal.fail();
    throw;
  }
}

ExitCode merge_experiment(const MergeCommand& command) {
  const std::vector<fs::path> shards(command.shards.begin(), command.shards.end());
  MergedRun merged = [&] {
    try {
      return merge_shards(shards, [](const std::string& text) {
        return parse_config(text, "a shard's checkpoint").config;
      });
    } catch (const ShardMismatch& error) {
      throw UserError(error.what(), ExitCode::kMismatch);
    }
  }();
  const fs::path folder = command.out;
  const WantedRun wanted{merged.plan, merged.identity, {}};
  const FolderContents found = inspect_folder(folder, wanted);
  if (found.state == FolderState::kOther && command.other_run == OtherRun::kRefuse) {
    refuse_other(found);
  }
  if (found.state == FolderState::kFinished)
    return tell_again(folder, found.exit_code, {}, command.verbosity);

  make_folder(folder);
  const FolderLock lock(folder);
  if (found.state == FolderState::kOther) clear_folder(folder);
  RunCommand as_run;
  as_run.arguments = command.arguments;
  RunJournal journal(folder, {merged.plan.config, {}}, as_run, {});
  try {
    const Ledger ledger(merged.plan, {}, std::move(merged.cells));
    return finish(wanted, folder, ledger, command.verbosity, journal);
  } catch (...) {
    journal.fail();
    throw;
  }
}

}  // namespace attnscale
