#include "app/finish_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "config/config.h"
#include "estimate/crossings.h"
#include "estimate/estimate.h"
#include "estimate/fragile_means.h"
#include "estimate/given_baseline.h"
#include "estimate/reference_check.h"
#include "estimate/stop_rule.h"
#include "experiment/given.h"
#include "experiment/histogram.h"
#include "experiment/samples.h"
#include "io/atomic_file.h"
#include "io/matrix_file.h"
#include "io/result_files.h"
#include "io/sha256.h"
#include "report/number_text.h"

namespace attnscale {
namespace {

template <typename Row>
void append(std::vector<Row>& to, std::vector<Row> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Reasons to doubt the run, one sentence each.
std::vector<std::string> alarms_of(const Plan& plan, const ReferenceCheck& check) {
  std::vector<std::string> alarms = check_scaling_names(plan.config);
  if (check.beyond > 0) {
    alarms.push_back(fmt::format("{} {} further from the exact value than chance allows, first {}",
                                 check.beyond, check.beyond == 1 ? "estimate is" : "estimates are",
                                 describe_line(check.worst.front().row)));
  }
  for (std::string& alarm : alarms) alarm += "; do not trust this run, see attnscale verify";
  return alarms;
}

// About lines that rare large scores decide, of which the run saw too few; there is at least one.
std::string misjudged_sentence(const ReferenceCheck& check) {
  const CheckedLine& line = *check.most_misjudged;
  const bool one = check.misjudged == 1;
  return fmt::format(
      "{}{} is {}, exactly {}: {} what rare large scores decide; more queries help, and the exact "
      "value is right",
      one ? "" : fmt::format("{} lines, the furthest ", check.misjudged), describe_line(line.row),
      rounded(*line.row.estimate, 3), rounded(*line.row.reference, 3),
      one ? "its error bar misses" : "their error bars miss");
}

// About numbers that overflowed; nothing if there are none.
std::vector<std::string> nonfinite_warnings(const Results& results) {
  const auto lines = [](const auto& rows, const auto& is_bad, const char* file) {
    const auto count = std::ranges::count_if(rows, is_bad);
    return count == 0 ? std::string()
                      : fmt::format(", {} {} of {}", count, count == 1 ? "line" : "lines", file);
  };
  const auto is_bad_weight = [](const WeightRow& row) {
    return !std::isfinite(row.score) || !std::isfinite(row.logit) || !std::isfinite(row.weight) ||
           !std::isfinite(row.slope);
  };
  const std::string found =
      lines(
          results.rows, [](const ResultRow& row) { return row.status == LineStatus::kNonfinite; },
          "summary.csv") +
      lines(results.weights, is_bad_weight, "weights.csv") +
      lines(
          results.outputs, [](const OutputRow& row) { return !std::isfinite(row.output); },
          "outputs.csv");
  if (found.empty()) return {};
  return {"a number is not finite in " + found.substr(2) +
          ", as something overflowed; its cell is empty, and the line's status says so"};
}

// About the lines that leave queries out; nothing if there are none.
std::vector<std::string> left_out_warnings(const std::vector<ResultRow>& rows) {
  const auto is_partial = [](const ResultRow& row) { return row.left_out > 0 && row.queries > 0; };
  const auto lines = std::ranges::count_if(rows, is_partial);
  if (lines == 0) return {};
  const ResultRow& most = *std::ranges::max_element(rows, {}, [&](const ResultRow& row) {
    return is_partial(row)
               ? static_cast<double>(row.left_out) / static_cast<double>(row.queries + row.left_out)
               : 0;
  });
  return {fmt::format(
      "{} of summary.csv {} out queries that are not finite (column left_out), {}{} of {} in {}: "
      "what such a line says is of the others, without the queries of the widest scores",
      lines == 1 ? "1 line" : fmt::format("{} lines", lines), lines == 1 ? "leaves" : "leave",
      lines == 1 ? "" : "at most ", most.left_out, most.queries + most.left_out,
      describe_line(most))};
}

// About the lines whose precision target was not met; there is at least one.
std::string missed_sentence(const std::vector<ResultRow>& missed) {
  const ResultRow& first = missed.front();
  return fmt::format(
      "the precision target was not reached in {} {} {} of {} at d={} keys={} under {}; raise "
      "\"queries\" or ask for less",
      missed.size(), missed.size() == 1 ? "line:" : "lines, the first", first.metric,
      first.key.experiment, *first.key.d, first.key.keys, first.key.scaling);
}

// Files are read in place: one that was changed meanwhile gave numbers of no single version.
void expect_unchanged(const Given& given) {
  for (const auto matrix : kGivenMatrices) {
    const std::optional<GivenFile>& file = (given.*matrix).file;
    if (!file || sha256_hex_of_file(tensor_name(file->path).path) == file->sha256) continue;
    throw std::runtime_error(file->path +
                             " changed while it was measured; nothing was written: "
                             "run again when nobody writes to it");
  }
}

// False if `stop` ended it.
bool measure_given_into(Results& results, const Config& config, const Experiment& experiment,
                        const GivenOptions& options) {
  auto given = measure_given(config, experiment, options);
  if (!given) return false;
  if (experiment.given->baseline.any()) {
    auto baselines = measure_baseline(config, experiment, given->rows, options);
    if (!baselines) return false;
    append(results.baselines, std::move(*baselines));
  }
  expect_unchanged(*experiment.given);
  append(results.rows, std::move(given->rows));
  append(results.weights, std::move(given->weights));
  append(results.outputs, std::move(given->outputs));
  append(results.heads, std::move(given->heads));
  append(results.queries, std::move(given->queries));
  return true;
}

}  // namespace

std::optional<FinishedRun> estimate_run(const Plan& plan, const Ledger& ledger,
                                        const EndOptions& options) {
  const StopSignal& stop = options.stop;
  const std::vector<CellTally> tallies = ledger.tallies();
  ExactValues exact(plan.config.reference);
  FragileMeans fragile;
  std::vector<ResultRow> missed;
  Results results;
  std::size_t cell = 0;
  for (std::size_t i = 0; i < plan.config.experiments.size(); ++i) {
    const Experiment& experiment = plan.config.experiments[i];
    if (experiment.given) {
      GivenOptions of_given{stop, options.run};
      if (options.progress) {
        of_given.progress = [&](std::int64_t queries) { options.progress(i, queries); };
      }
      if (!measure_given_into(results, plan.config, experiment, of_given)) return std::nullopt;
    }
    for (; cell < plan.cells.size() && plan.cells[cell].experiment == i; ++cell) {
      std::vector<ResultRow> rows = estimate_cell(plan, plan.cells[cell], tallies[cell], exact);
      mark_target(experiment, plan.cells[cell], tallies[cell].moments, rows);
      std::ranges::copy_if(rows, std::back_inserter(missed),
                           [&](const ResultRow& row) { return misses_target(experiment, row); });
      fragile.add(rows, tallies[cell].counts);
      append(results.rows, std::move(rows));
      auto contrasts = contrast_cell(plan, plan.cells[cell], tallies[cell], exact);
      fragile.add(contrasts);
      append(results.contrasts, std::move(contrasts));
      append(results.histogram,
             histogram_cell(plan, plan.cells[cell], tallies[cell].counts.histograms));
      auto samples = sample_cell(plan, plan.cells[cell], stop);
      if (!samples || (stop && stop())) return std::nullopt;
      append(results.samples, std::move(*samples));
    }
  }
  results.crossings = find_crossings(results.rows);
  add_exact_crossings(plan, exact, results.crossings);
  std::vector<std::string> warnings = exact.warnings();
  append(warnings, fragile.warnings());
  append(warnings, nonfinite_warnings(results));
  append(warnings, left_out_warnings(results.rows));
  const ReferenceCheck check = check_estimates(plan, results.rows);
  if (check.misjudged > 0) warnings.push_back(misjudged_sentence(check));
  append(warnings, alarms_of(plan, check));
  if (missed.empty()) return FinishedRun{std::move(results), std::move(warnings)};
  warnings.push_back(missed_sentence(missed));
  return FinishedRun{std::move(results), std::move(warnings), ExitCode::kTargetNotReached};
}

std::vector<ManifestFile> write_run(const std::filesystem::path& folder, const Config& config,
                                    const Results& results, const std::optional<Table>& coverage) {
  std::vector<NamedBytes> files = result_files(config, results, coverage);
  files.push_back({"config.json", to_json_text(config)});
  write_atomically(folder, files);
  std::vector<ManifestFile> entries;
  std::ranges::transform(files, std::back_inserter(entries), entry_of);
  return entries;
}

}  // namespace attnscale
