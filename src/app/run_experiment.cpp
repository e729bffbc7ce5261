#include "app/run_experiment.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "app/faster_sampler.h"
#include "app/finish_run.h"
#include "app/pool.h"
#include "app/process.h"
#include "app/run_folder.h"
#include "app/run_journal.h"
#include "app/run_progress.h"
#include "config/config.h"
#include "execution/checkpoint.h"
#include "execution/group_threads.h"
#include "execution/shards.h"
#include "execution/stop.h"
#include "io/folder_lock.h"
#include "io/result_files.h"
#include "io/result_tables.h"
#include "io/whole_file.h"
#include "numerics/vector_target.h"
#include "report/report.h"

namespace attnscale {
namespace {

namespace fs = std::filesystem;

// A warning goes to the reader and to the log.
void warn(const std::string& warning, RunJournal& journal) {
  say("warning: " + warning);
  journal.warning(warning);
}

// On stdout, as wide as its terminal.
void print_report(const Results& results, const ReportWords& words) {
  write_stdout(report_text(results, words, TableFormat::kTable, terminal_size(STDOUT_FILENO)));
}

ExitCode show_finished_run(const fs::path& folder, ExitCode code, std::optional<Shard> shard,
                           Verbosity verbosity) {
  say(folder.string() + " holds this run already, finished" +
      (code == ExitCode::kTargetNotReached ? ", a precision target not reached" : "") +
      "; nothing to do");
  if (verbosity == Verbosity::kNormal && !shard) {
    const fs::path place = run_place(folder);
    print_report(read_results(place), read_manifest(place).value_or(Manifest{}).words);
  }
  return code;
}

// Where files are written, and what of this run is there.
struct Workplace {
  fs::path place;
  FolderContents found;
};

using FolderWork = std::function<ExitCode(Workplace at, RunJournal& journal)>;

// Calls `work` while this process alone may write to the folder; notes a failure. Another run in
// the folder stays until this one is whole. If the folder already holds the finished run, shows
// that instead.
ExitCode with_claimed_folder(const fs::path& folder, const WantedRun& wanted,
                             const WritingOptions& options, const FolderWork& work) {
  const auto look = [&] {
    FolderContents contents = inspect_folder(run_place(folder), wanted);
    if (contents.state != FolderState::kOther) return Workplace{folder, std::move(contents)};
    if (options.other_run == OtherRun::kRefuse) {
      throw UserError(
          contents.difference +
          (wanted.part.is_pool() ? ". Name another folder" : ". Write elsewhere with --out DIR") +
          ", or replace it with --force");
    }
    const fs::path beside = folder / kReplacementName;
    return Workplace{beside, inspect_folder(beside, wanted)};
  };
  const auto show = [&](const FolderContents& contents) {
    return show_finished_run(folder, contents.exit_code, wanted.part.shard, options.verbosity);
  };
  // What a kill left beside a finished run. It does no harm where it cannot be removed.
  const auto tidy = [&] {
    if (!has_leftovers(folder, wanted.part.shard)) return;
    try {
      const FolderLock lock(folder);
      if (look().found.state == FolderState::kFinished) remove_leftovers(folder, wanted.part.shard);
    } catch (const std::exception&) {
      return;
    }
  };
  const Workplace before = look();
  const bool is_in_place = run_place(folder) == folder;
  if (before.found.state == FolderState::kFinished && is_in_place) {
    tidy();
    return show(before.found);
  }
  make_folder(folder);
  const FolderLock lock(folder);
  if (run_place(folder) != folder) put_in_place(folder);
  Workplace at = look();  // now that nobody else can change it
  const fs::path place = at.place;
  if (at.found.state == FolderState::kFinished) {
    remove_leftovers(folder, wanted.part.shard);
    return show(at.found);
  }
  if (at.found.state == FolderState::kOther) {
    clear_folder(place);
    at.found = {};
  }
  make_folder(place);
  RunJournal journal(place, wanted, options.arguments, options.threads);
  try {
    const ExitCode code = work(std::move(at), journal);
    if (run_place(folder) != folder) put_in_place(folder);
    if (code != ExitCode::kInterrupted) {
      remove_leftovers(folder, wanted.part.shard);
      say("wrote " + folder.string());
    }
    return code;
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
             const StopRequest& stop, StopGuard& guard, Executor& executor, Ledger& ledger,
             RunProgress& progress, RunJournal& journal) {
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
    const auto saving = guard.hold_off();
    is_long = true;
    save_checkpoint(folder, wanted.identity, ledger);
    journal.checkpoint(ledger.queries_done());
  };
  const bool finished = executor.measure(wanted.plan, ledger, options);
  // A shard's checkpoint is its result; that of a long run is kept in case its end is cut short.
  if (finished && (wanted.part.shard || is_long)) options.checkpoint();
  return finished;
}

// The manifest's entry of the checkpoint, alone.
std::vector<ManifestFile> checkpoint_entry(const fs::path& place) {
  return {entry_of({std::string(kCheckpointName), read_file(place / kCheckpointName)})};
}

// What was drawn is kept in a checkpoint; given numbers are measured from their beginning again.
std::string how_it_goes_on(const Config& config, std::int64_t queries) {
  const bool has_given = std::ranges::any_of(
      config.experiments, [](const Experiment& one) { return one.given.has_value(); });
  if (!has_given) return "goes on from here";
  return queries == 0 ? "begins again" : "goes on from here, and begins again with given numbers";
}

ExitCode interrupt(const WantedRun& wanted, const fs::path& place, const StopRequest& stop,
                   const Ledger& ledger, RunJournal& journal) {
  save_checkpoint(place, wanted.identity, ledger);
  journal.checkpoint(ledger.queries_done());
  journal.end(ExitCode::kInterrupted, checkpoint_entry(place));
  say(fmt::format("stopped by {} after {} queries; the same command {}", stop.reason(),
                  ledger.queries_done(),
                  how_it_goes_on(wanted.plan.config, ledger.queries_done())));
  return ExitCode::kInterrupted;
}

// Ends the process with what `interrupt` returns.
[[noreturn]] void end_process(const std::function<ExitCode()>& interrupt) {
  ExitCode code = ExitCode::kFailed;
  try {
    code = interrupt();
  } catch (const std::exception& error) {
    say(std::string("attnscale: ") + error.what());
  }
  std::_Exit(static_cast<int>(code));
}

ExitCode give_up_before_measuring(const StopRequest& stop) {
  say(fmt::format("stopped by {} before anything was measured", stop.reason()));
  return ExitCode::kInterrupted;
}

// Notes and reports what was written.
ExitCode finish(const FinishedRun& finished, std::vector<ManifestFile> files, Verbosity verbosity,
                RunJournal& journal) {
  for (const std::string& warning : finished.warnings) warn(warning, journal);
  journal.end(finished.exit_code, std::move(files));
  if (verbosity == Verbosity::kNormal) {
    print_report(finished.results, journal.words());
  }
  return finished.exit_code;
}

ExitCode finish_shard(const WantedRun& wanted, const fs::path& place, RunJournal& journal) {
  journal.end(ExitCode::kDone, checkpoint_entry(place));
  say(to_string(wanted.part) + " is done; join all shards with attnscale merge");
  return ExitCode::kDone;
}

// `what` are "shards" or "runs".
void refuse_to_write_into(const fs::path& folder, const std::vector<std::string>& parts,
                          const char* command, const char* what) {
  for (const fs::path part : parts) {
    std::error_code unreadable;
    if (!fs::equivalent(folder, part, unreadable)) continue;
    throw UserError(fmt::format(
        "attnscale {}: {} is one of the {} and cannot be the folder to write; name another folder "
        "first",
        command, folder.string(), what));
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
  std::optional<StopGuard> early;
  early.emplace(stop, [&] { end_process([&] { return give_up_before_measuring(stop); }); });
  const LoadedConfig loaded = load(command);
  const Plan plan = make_plan(loaded.config);
  const WantedRun wanted{plan, identity_of(loaded.config), {.shard = command.shard}};
  const fs::path folder = command.out.value_or(
      results_folder(loaded.config, command.overrides, command.shard).string());
  const auto work = [&](Workplace at, RunJournal& journal) {
    auto& [place, found] = at;
    for (const std::string& warning : loaded.warnings) warn(warning, journal);
    if (!found.warning.empty()) warn(found.warning, journal);
    if (const std::string hint = faster_sampler(plan.config); !hint.empty()) say("hint: " + hint);
    Ledger ledger(plan, command.shard.value_or(Shard{}), std::move(found.measured));
    if (const auto queries = ledger.queries_done()) {
      say(fmt::format("going on after {} queries", queries));
    }
    const auto interrupted = [&] { return interrupt(wanted, at.place, stop, ledger, journal); };
    early.reset();
    StopGuard guard(stop, [&] { end_process(interrupted); });
    std::optional<RunProgress> progress(std::in_place, plan, ledger, command.progress);
    if (measure(wanted, command, place, stop, guard, executor, ledger, *progress, journal)) {
      if (wanted.part.shard) {
        guard.dismiss();
        return finish_shard(wanted, place, journal);
      }
      const EndOptions end{stop.signal(), on_threads(command.writing.threads),
                           [&](std::size_t experiment, std::int64_t queries) {
                             progress->add_given(experiment, queries);
                           }};
      const auto finished = estimate_run(plan, ledger, end);
      progress.reset();
      if (finished) {
        std::vector<ManifestFile> files = write_run(place, plan.config, finished->results);
        guard.dismiss();
        return finish(*finished, std::move(files), command.writing.verbosity, journal);
      }
    }
    progress.reset();
    guard.dismiss();
    return interrupted();
  };
  return with_claimed_folder(folder, wanted, command.writing, work);
}

ExitCode pool_experiment(const std::string& out, const std::vector<std::string>& runs,
                         const WritingOptions& writing) {
  refuse_to_write_into(out, runs, "pool", "runs");
  const PooledRun pooled = read_pool(runs);
  const WantedRun wanted{pooled.plan, pooled.identity, {.seeds = pooled.seeds}};
  const auto work = [&](const Workplace& at, RunJournal& journal) {
    auto files = write_run(at.place, pooled.plan.config, pooled.results,
                           table_of<CoverageRow>(pooled.coverage));
    const FinishedRun finished{pooled.results, {}};
    const ExitCode code = finish(finished, std::move(files), writing.verbosity, journal);
    if (writing.verbosity == Verbosity::kNormal && !pooled.coverage.empty()) {
      write_stdout("\n" + coverage_text(pooled.coverage, terminal_width(STDOUT_FILENO)));
    }
    return code;
  };
  return with_claimed_folder(out, wanted, writing, work);
}

ExitCode merge_experiment(const std::string& out, const std::vector<std::string>& shards,
                          const WritingOptions& writing) {
  for (const std::string& shard : shards) expect_folder(shard, "a shard");
  refuse_to_write_into(out, shards, "merge", "shards");
  if (are_runs_of_other_seeds(shards)) {
    throw UserError("attnscale merge: these are runs of other seeds: attnscale pool joins them");
  }
  MergedRun merged = merged_run({shards.begin(), shards.end()});
  const WantedRun wanted{merged.plan, merged.identity};
  const auto work = [&](const Workplace& at, RunJournal& journal) {
    const Ledger ledger(merged.plan, {}, std::move(merged.cells));
    const auto finished =
        estimate_run(merged.plan, ledger, {.run = on_threads(available_processors())});
    return finish(*finished, write_run(at.place, merged.plan.config, finished->results),
                  writing.verbosity, journal);
  };
  return with_claimed_folder(out, wanted, writing, work);
}

}  // namespace attnscale
