#include "app/verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <system_error>
#include <vector>

#include "app/manifest.h"
#include "app/run_folder.h"
#include "config/config.h"
#include "estimate/reference.h"
#include "estimate/reference_check.h"
#include "execution/group_threads.h"
#include "execution/run_identity.h"
#include "execution/shard.h"
#include "experiment/given.h"
#include "io/printable.h"
#include "io/result_files.h"
#include "io/result_tables.h"
#include "io/sha256.h"
#include "io/whole_file.h"
#include "numerics/shortest.h"
#include "report/number_text.h"

namespace attnscale {
namespace {

namespace fs = std::filesystem;
using Faults = std::vector<std::string>;

// The manifest of a finished whole run.
Manifest finished_manifest(const fs::path& folder) {
  const std::string name = folder.string();
  expect_folder(folder, "a finished run");
  if (!fs::exists(folder / kManifestName)) {
    throw UserError(name + ": holds no run to verify (no manifest.json in it)");
  }
  std::optional<Manifest> manifest;
  try {
    manifest = read_manifest(folder);
  } catch (const std::system_error& error) {
    throw UserError(error.what(), ExitCode::kMismatch);
  }
  if (!manifest) {
    throw UserError(name + "/manifest.json: is damaged or not of attnscale", ExitCode::kMismatch);
  }
  if (manifest->status != kFinishedStatus) {
    throw UserError(name + ": holds a run that is not finished; the same run command goes on");
  }
  if (manifest->part.shard) {
    throw UserError(name + ": holds " + to_string(manifest->part) +
                    "; join the shards with attnscale merge, then verify the whole run");
  }
  return std::move(*manifest);
}

void check_file(const fs::path& folder, const ManifestFile& file, Faults& faults) {
  if (!fs::is_regular_file(folder / file.name)) {
    faults.push_back(file.name + " is missing");
    return;
  }
  const std::string found = sha256_hex_of_file(folder / file.name);
  if (found == file.sha256) return;
  faults.push_back(fmt::format(
      "{} is not as it was written: its SHA-256 is {:.12}..., the manifest says {:.12}...",
      file.name, found, file.sha256));
}

void check_files(const fs::path& folder, const Manifest& manifest, Faults& faults) {
  for (const ManifestFile& file : manifest.files) check_file(folder, file, faults);
}

// Faults if the manifest does not list every file of a run of this config.
void check_list(const Config& config, const Manifest& manifest, Faults& faults) {
  std::vector<std::string> names = result_file_names(config);
  names.emplace_back("config.json");
  for (const std::string& name : names) {
    if (std::ranges::find(manifest.files, name, &ManifestFile::name) == manifest.files.end()) {
      faults.push_back(name + " is not among the manifest's files");
    }
  }
}

// What a line of summary.csv must agree with.
struct ExpectedLine {
  ResultRow row;  // its key and metric; all of it for given numbers, which leave nothing to chance
  const Cell* cell = nullptr;
  const Experiment* experiment = nullptr;
  double carrying_share = 1;  // of the queries, by theory
};

void expect_cell(const Plan& plan, const Cell& cell, ExactValues& exact,
                 std::vector<ExpectedLine>& lines) {
  const Experiment& experiment = plan.experiment_of(cell);
  for (const Scaling& scaling : experiment.scalings) {
    const auto references = exact.of(experiment, cell, scaling);
    const auto shares = exact.carrying_shares(experiment, cell, scaling);
    for (std::size_t m = 0; m < experiment.metrics.size(); ++m) {
      ExpectedLine line{{}, &cell, &experiment};
      line.row.key = key_of(plan, cell, scaling);
      line.row.metric = experiment.metrics[m]->name;
      line.row.reference = references[m];
      line.carrying_share = shares[m];
      lines.push_back(std::move(line));
    }
  }
}

std::vector<ExpectedLine> expected_lines(const Plan& plan) {
  ExactValues exact(plan.config.reference);
  std::vector<ExpectedLine> lines;
  auto cell = plan.cells.begin();
  for (std::size_t i = 0; i < plan.config.experiments.size(); ++i) {
    const Experiment& experiment = plan.config.experiments[i];
    if (experiment.given) {
      auto given =
          measure_given(plan.config, experiment, {.run = on_threads(available_processors())});
      for (ResultRow& row : given->rows) {
        lines.push_back({std::move(row), nullptr, &experiment});
      }
    }
    for (; cell != plan.cells.end() && cell->experiment == i; ++cell) {
      expect_cell(plan, *cell, exact, lines);
    }
  }
  return lines;
}

bool is_same_reference(const std::optional<double>& a, const std::optional<double>& b) {
  constexpr double kRounding = 1e-9;
  if (!a || !b) return a.has_value() == b.has_value();
  return std::abs(*a - *b) <= kRounding * std::max(std::abs(*a), std::abs(*b));
}

// What is wrong with a line apart from its estimate; empty if nothing is.
std::string fault_of(const ExpectedLine& expected, std::int64_t runs, const ResultRow& row) {
  if (expected.cell == nullptr) return row == expected.row ? "" : "is not what its numbers give";
  // How many queries pooled runs with a precision target drew together, no config says.
  if (runs == 1 || !expected.experiment->stop) {
    auto fault = check_queries(*expected.experiment, *expected.cell, row);
    if (!fault.empty()) return fault;
  }
  if (!is_same_reference(row.reference, expected.row.reference)) {
    return "has the exact value " + (row.reference ? shortest(*row.reference) : "none") +
           "; it is " + (expected.row.reference ? shortest(*expected.row.reference) : "not known");
  }
  return "";
}

// Tells lines that are asked for how many queries carry them, which no file does.
void check_against_config(const Plan& plan, std::int64_t runs, std::vector<ResultRow>& rows,
                          Faults& faults) {
  constexpr std::size_t kMostShown = 5;
  const std::vector<ExpectedLine> expected = expected_lines(plan);
  if (rows.size() != expected.size()) {
    faults.push_back(fmt::format("summary.csv has {} lines; the config asks for {}", rows.size(),
                                 expected.size()));
    return;
  }
  std::size_t found = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_asked_for =
        rows[i].key == expected[i].row.key && rows[i].metric == expected[i].row.metric;
    const std::string fault = is_asked_for
                                  ? fault_of(expected[i], runs, rows[i])
                                  : "is where the config has " + describe_line(expected[i].row);
    if (is_asked_for) {
      rows[i].carrying = expected[i].carrying_share * static_cast<double>(rows[i].queries);
    }
    if (!fault.empty() && found++ < kMostShown) {
      faults.push_back(describe_line(rows[i]) + " " + fault);
    }
  }
  if (found > kMostShown) {
    faults.push_back(fmt::format("... and {} more lines like these", found - kMostShown));
  }
}

std::string line_text(const CheckedLine& line) {
  return fmt::format("  {}: {}, exactly {}; {} standard errors off, allowed {}\n",
                     describe_line(line.row), rounded(*line.row.estimate, 8),
                     rounded(*line.row.reference, 8), rounded(line.distance, 2),
                     rounded(line.bound, 2));
}

std::string check_text(const ReferenceCheck& check) {
  if (check.lines == 0) return "no exact values to compare\n";
  const auto counted = [](auto lines) {
    return fmt::format("{} line{}", lines, lines == 1 ? "" : "s");
  };
  const auto decided = check.lines - check.undecided;
  std::string text;
  if (decided > 0) {
    text =
        fmt::format("{} against {}: {} (right numbers give such an alarm in one run of {})\n",
                    counted(decided), decided == 1 ? "its exact value" : "their exact values",
                    check.beyond == 0 ? "all as near as chance allows"
                                      : fmt::format("{} further than chance allows", check.beyond),
                    static_cast<int>(kRunsPerFalseAlarm));
  }
  if (check.undecided > 0) {
    text += fmt::format("{} not judged: too few queries carry {}\n", counted(check.undecided),
                        check.undecided == 1 ? "it" : "them");
  }
  if (!check.worst.empty()) text += "the furthest:\n";
  for (const CheckedLine& line : check.worst) text += line_text(line);
  return text;
}

// Finds faults in the contents of the files; adds what was compared to `text`.
void check_contents(const fs::path& folder, const Manifest& manifest, std::string& text,
                    Faults& faults) {
  const std::string config_text = read_file(folder / "config.json");
  const Config config = parse_config(config_text, (folder / "config.json").string()).config;
  const RunIdentity noted{manifest.build.version, manifest.config.text};
  if (const auto found = first_difference({manifest.build.version, config_text}, noted)) {
    faults.push_back(fmt::format("config.json and the manifest differ: {} is {} and {}", found->key,
                                 found->ours, found->theirs));
  }
  check_list(config, manifest, faults);
  const std::int64_t runs = manifest.part.runs();
  Plan plan = make_plan(config);
  for (Cell& cell : plan.cells) cell.queries *= runs;
  std::vector<ResultRow> rows = read_rows<ResultRow>(folder / "summary.csv");
  check_against_config(plan, runs, rows, faults);
  std::ranges::move(check_scaling_names(config), std::back_inserter(faults));
  text += fmt::format(
      "{} lines of summary.csv, their queries and exact values against config.json\n", rows.size());
  const ReferenceCheck check = check_estimates(plan, rows);
  text += check_text(check);
  if (check.beyond > 0) {
    faults.push_back(
        fmt::format("{} estimates are further from their exact values than chance "
                    "allows, the first of those above",
                    check.beyond));
  }
}

}  // namespace

Answer verify_folder(const fs::path& folder) {
  const Manifest manifest = finished_manifest(folder);
  Faults faults;
  check_files(folder, manifest, faults);
  std::string text = fmt::format("checked {}\n{} files by their SHA-256 in manifest.json\n",
                                 in_one_line(folder.string()), manifest.files.size());
  try {
    check_contents(folder, manifest, text, faults);
  } catch (const std::exception& error) {
    faults.push_back(std::string("cannot be read: ") + error.what());
  }
  if (faults.empty()) return {text + "no mismatch\n", ExitCode::kDone};
  text += fmt::format("{} {}:\n", faults.size(), faults.size() == 1 ? "mismatch" : "mismatches");
  for (const std::string& fault : faults) text += "  " + fault + "\n";
  return {text, ExitCode::kMismatch};
}

}  // namespace attnscale
