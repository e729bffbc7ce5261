#include <unistd.h>

#include <functional>
#include <iostream>
#include <optional>

#include "app/commands.h"
#include "app/finish_run.h"
#include "app/process.h"
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
#include "report/report.h"

namespace attnscale {
namespace {

namespace fs = std::filesystem;

// A warning goes to the reader and to the log.
void warn(const std::string& warning, RunJournal& journal) {
  std::cerr << "warning: " << warning << "\n";
  journal.warning(warning);
}

// On stdout, as wide as its terminal.
void print_report(const Results& results, const std::vector<std::string>& formulas) {
  write_stdout(report_text(results, formulas, TableFormat::kTable, terminal_width(STDOUT_FILENO)));
}

ExitCode show_finished_run(const fs::path& folder, ExitCode code, std::optional<Shard> shard,
                           Verbosity verbosity) {
  std::cerr << folder.string() << " holds this run already, finished"
            << (code == ExitCode::kTargetNotReached ? ", a precision target not reached" : "")
            << "; nothing to do\n";
  if (verbosity == Verbosity::kNormal && !shard) {
    print_report(read_results(folder), read_manifest(folder).value_or(Manifest{}).logits);
  }
  return code;
}

using FolderWork = std::function<ExitCode(FolderContents found, RunJournal& journal)>;

// Calls `work` while this process alone may write to the folder, without the files of another run;
// notes a failure. If the folder already holds the finished run, shows that instead.
ExitCode with_claimed_folder(const fs::path& folder, const WantedRun& wanted,
                             const WritingOptions& options, const FolderWork& work) {
  const auto look = [&] {
    FolderContents contents = inspect_folder(folder, wanted);
    if (contents.state == FolderState::kOther && options.other_run == OtherRun::kRefuse) {
      throw UserError(contents.difference +
                      ". Write elsewhere with --out DIR, or replace it with --force");
    }
    return contents;
  };
  const auto show = [&](const FolderContents& contents) {
    return show_finished_run(folder, contents.exit_code, wanted.shard, options.verbosity);
  };
  const FolderContents before = look();
  if (before.state == FolderState::kFinished) return show(before);
  make_folder(folder);
  const FolderLock lock(folder);
  FolderContents contents = look();  // now that nobody else can change it
  if (contents.state == FolderState::kFinished) return show(contents);
  if (contents.state == FolderState::kOther) {
    clear_folder(folder);
    contents = {};
  }
  RunJournal journal(folder, wanted, options.arguments, options.threads);
  try {
    return work(std::move(contents), journal);
  } catch (...) {
    journal.fail();
    throw;
  }
}

LoadedConfig load(const RunCommand& command) {
  LoadedConfig loaded = load_config(command.config, command.overrides);
  if (!vector_target_keeps_bytes()) {
    loaded.warnings.push_back(
        "this machine has neither AVX2 with FMA nor the NEON of 64-bit Arm (" + vector_target() +
        "): results are correct, but not byte for byte those of machines that "
        "have one");
  }
  return loaded;
}

bool measure(const WantedRun& wanted, const RunCommand& command, const fs::path& folder,
             const StopRequest& stop, Executor& executor, Ledger& ledger, RunJournal& journal) {
  RunProgress progress(wanted.plan, ledger, command.progress);
  ExecutorOptions options;
  options.threads = command.writing.threads;
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
  // A shard's checkpoint is its result; that of a long run is kept in case its end is cut short.
  if (!finished || wanted.shard || is_long) options.checkpoint();
  return finished;
}

ExitCode interrupt(const StopRequest& stop, const Ledger& ledger, RunJournal& journal) {
  journal.end(ExitCode::kInterrupted, {std::string(kCheckpointName)});
  std::cerr << "stopped by " << stop.reason() << " after " << ledger.queries_done()
            << " queries; the same command goes on from here\n";
  return ExitCode::kInterrupted;
}

// Writes and reports the results of estimate_run.
ExitCode finish(const WantedRun& wanted, const fs::path& folder, const FinishedRun& finished,
                Verbosity verbosity, RunJournal& journal) {
  for (const std::string& warning : finished.warnings) warn(warning, journal);
  journal.end(finished.exit_code, write_run(folder, wanted.plan.config, finished.results));
  fs::remove(folder / kCheckpointName);
  if (verbosity == Verbosity::kNormal) {
    print_report(finished.results, formula_lines(wanted.plan.config));
  }
  std::cerr << "wrote " << folder.string() << "\n";
  return finished.exit_code;
}

ExitCode finish_shard(const WantedRun& wanted, const fs::path& folder, RunJournal& journal) {
  journal.end(ExitCode::kDone, {std::string(kCheckpointName)});
  std::cerr << "wrote " << folder.string() << ", " << part_name(wanted.shard)
            << "; join all shards with attnscale merge\n";
  return ExitCode::kDone;
}

void refuse_to_write_into_a_shard(const fs::path& folder, const std::vector<fs::path>& shards) {
  for (const fs::path& shard : shards) {
    std::error_code unreadable;
    if (fs::equivalent(folder, shard, unreadable)) {
      throw UserError(
          "attnscale merge: " + folder.string() +
          " is one of the shards and cannot be the folder to write; name another folder first");
    }
  }
}

MergedRun merged_run(const std::vector<fs::path>& shards) {
  try {
    return merge_shards(shards, [](const std::string& text) {
      return parse_config(text, "a shard's checkpoint").config;
    });
  } catch (const ShardMismatch& error) {
    throw UserError(error.what(), ExitCode::kMismatch);
  }
}

}  // namespace

ExitCode run_experiment(const RunCommand& command, Executor& executor) {
  const StopRequest stop(command.time_limit);
  const LoadedConfig loaded = load(command);
  const Plan plan = make_plan(loaded.config);
  const WantedRun wanted{plan, identity_of(loaded.config), command.shard};
  const fs::path folder = command.out.value_or(
      results_folder(loaded.config, command.overrides, command.shard).string());
  const auto work = [&](FolderContents found, RunJournal& journal) {
    for (const std::string& warning : loaded.warnings) warn(warning, journal);
    if (!found.warning.empty()) warn(found.warning, journal);
    std::vector<CellLedger> measured;
    if (found.checkpoint) measured = std::move(found.checkpoint->cells);
    Ledger ledger(plan, command.shard.value_or(Shard{}), std::move(measured));
    if (const auto queries = ledger.queries_done()) {
      std::cerr << "going on after " << queries << " queries\n";
    }
    if (!measure(wanted, command, folder, stop, executor, ledger, journal)) {
      return interrupt(stop, ledger, journal);
    }
    if (wanted.shard) return finish_shard(wanted, folder, journal);
    if (const auto finished = estimate_run(plan, ledger, stop.signal())) {
      return finish(wanted, folder, *finished, command.writing.verbosity, journal);
    }
    save_checkpoint(folder, wanted.identity, ledger);
    return interrupt(stop, ledger, journal);
  };
  return with_claimed_folder(folder, wanted, command.writing, work);
}

ExitCode merge_experiment(const MergeCommand& command) {
  const fs::path folder = command.out;
  const std::vector<fs::path> shards(command.shards.begin(), command.shards.end());
  refuse_to_write_into_a_shard(folder, shards);
  MergedRun merged = merged_run(shards);
  const WantedRun wanted{merged.plan, merged.identity, std::nullopt};
  const auto work = [&](const FolderContents&, RunJournal& journal) {
    const Ledger ledger(merged.plan, {}, std::move(merged.cells));
    const auto finished = estimate_run(merged.plan, ledger);
    return finish(wanted, folder, *finished, command.writing.verbosity, journal);
  };
  return with_claimed_folder(folder, wanted, command.writing, work);
}

}  // namespace attnscale
