#include "app/run_experiment.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iostream>
#include <mutex>

#include "app/config.h"
#include "app/event_log.h"
#include "app/fingerprint.h"
#include "app/provenance.h"
#include "app/report_run.h"
#include "app/run_folder.h"
#include "execution/executor.h"
#include "experiment/crossings.h"
#include "experiment/estimate.h"
#include "experiment/given.h"
#include "experiment/histogram.h"
#include "experiment/samples.h"
#include "io/atomic_file.h"
#include "io/folder_lock.h"
#include "io/progress.h"
#include "io/result_tables.h"
#include "io/result_writer.h"
#include "numerics/vector_target.h"

namespace attnscale {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::system_clock;

LoadedConfig load(const RunCommand& command) {
  std::vector<Override> overrides = command.overrides;
  if (command.seed) overrides.push_back({"seed", std::to_string(*command.seed)});
  LoadedConfig loaded = load_config(command.config, overrides);
  if (!vector_target_keeps_bytes()) {
    loaded.warnings.push_back("this machine has no AVX2 with FMA (" + vector_target() +
                              "): results are right, but not byte for byte those of machines that "
                              "have it");
  }
  return loaded;
}

// Refuses a folder that holds another run, unless the person said to replace it.
FolderState prepare(const fs::path& folder, const Config& config, OtherRun other_run) {
  const FolderContents found = inspect_folder(folder, config);
  if (found.state != FolderState::kOther) return found.state;
  if (other_run == OtherRun::kRefuse) {
    throw UserError(folder.string() + ": holds another run: " + found.difference +
                    ". Write elsewhere with --out DIR, or replace it with --force");
  }
  clear_folder(folder);
  return FolderState::kFree;
}

Measured measure(const Plan& plan, const RunCommand& command) {
  WorkDone total;
  std::vector<double> seconds_per_query;
  for (const Cell& cell : plan.cells) {
    const double seconds = expected_seconds(plan.config.experiments[cell.experiment], cell);
    total.total_work += seconds;
    seconds_per_query.push_back(seconds / static_cast<double>(cell.queries));
  }
  const ProgressForm form =
      command.verbosity == Verbosity::kQuiet ? ProgressForm::kNever : command.progress;
  Progress progress(resolve_progress_form(form, STDERR_FILENO),
                    colour_is_welcome(STDERR_FILENO) ? Colour::kGreen : Colour::kNone,
                    stderr_surroundings());
  std::mutex mutex;
  ExecutorOptions options;
  options.threads = command.threads;
  options.progress = [&](std::size_t cell, std::int64_t queries) {
    const std::lock_guard lock(mutex);
    total.work += seconds_per_query[cell] * static_cast<double>(queries);
    total.queries += queries;
    progress.update(total);
  };
  progress.update(total);
  Measured measured = measure_plan(plan, options);
  progress.finish();
  return measured;
}

template <typename Row>
void append(std::vector<Row>& to, std::vector<Row> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

Results estimate(const Plan& plan, const std::vector<CellTally>& tallies) {
  Results results;
  std::size_t cell = 0;
  for (std::size_t i = 0; i < plan.config.experiments.size(); ++i) {
    const Experiment& experiment = plan.config.experiments[i];
    if (experiment.given) {
      GivenResults given = measure_given(plan.config, experiment);
      append(results.rows, std::move(given.rows));
      append(results.weights, std::move(given.weights));
      append(results.outputs, std::move(given.outputs));
    }
    for (; cell < plan.cells.size() && plan.cells[cell].experiment == i; ++cell) {
      append(results.rows, estimate_cell(plan.config, plan.cells[cell], tallies[cell]));
      append(results.histogram,
             histogram_cell(plan.config, plan.cells[cell], tallies[cell].counts.histograms));
      append(results.samples, sample_cell(plan.config, plan.cells[cell]));
    }
  }
  results.crossings = find_crossings(results.rows);
  return results;
}

}  // namespace

ExitCode run_experiment(const RunCommand& command) {
  const LoadedConfig loaded = load(command);
  const Config& config = loaded.config;
  const Plan plan = make_plan(config);
  const fs::path folder = results_folder(command, config);
  if (prepare(folder, config, command.other_run) == FolderState::kSameFinished) {
    std::cerr << folder.string() << " holds this run already, finished; nothing to do\n";
    if (command.verbosity == Verbosity::kNormal) print_report(read_results(folder));
    return ExitCode::kDone;
  }
  for (const std::string& warning : loaded.warnings) std::cerr << "warning: " << warning << "\n";

  fs::create_directories(folder);
  const FolderLock lock(folder);
  RunRecord record{"failed",          static_cast<int>(ExitCode::kFailed),
                   command.arguments, command.threads,
                   Clock::now(),      {},
                   loaded.warnings};
  EventLog events(folder);
  const auto finish = [&](std::vector<std::string> files) {
    record.ended = Clock::now();
    events.finished(record);
    write_atomically(folder / "manifest.json", manifest_text(config, record, folder, files));
  };

  events.started(config, record);
  const Measured measured = measure(plan, command);
  const Results results = estimate(plan, measured.tallies);
  std::vector<std::string> files = write_results(folder, results);
  write_atomically(folder / "config.json", to_json_text(config));
  files.emplace_back("config.json");
  record.status = "finished";
  record.exit_code = static_cast<int>(ExitCode::kDone);
  finish(std::move(files));

  if (command.verbosity == Verbosity::kNormal) print_report(results);
  std::cerr << "wrote " << folder.string() << "\n";
  return ExitCode::kDone;
}

}  // namespace attnscale
