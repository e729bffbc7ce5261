#include "app/verify.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "config/config.h"
#include "estimate/estimate.h"
#include "estimate/reference_check.h"
#include "execution/run_identity.h"
#include "experiment/given.h"
#include "io/result_tables.h"
#include "io/sha256.h"
#include "numerics/shortest.h"
#include "report/number_text.h"

namespace attnscale {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;
using Faults = std::vector<std::string>;

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The manifest of a finished whole run.
Json read_manifest(const fs::path& folder) {
  const std::string name = folder.string();
  if (!fs::exists(folder / "manifest.json")) {
    throw UserError(name + ": holds no run to verify (no manifest.json in it)");
  }
  Json manifest = Json::parse(read_bytes(folder / "manifest.json"), nullptr, false);
  if (!manifest.is_object() || !manifest.contains("files") || !manifest["files"].is_array() ||
      !manifest.contains("config")) {
    throw UserError(name + "/manifest.json: is damaged or not of attnscale", ExitCode::kMismatch);
  }
  if (manifest.value("status", "") != "finished") {
    throw UserError(name + ": holds a run that is not finished; the same run command goes on");
  }
  if (manifest.value("shard", "") != "the whole run") {
    throw UserError(name + ": holds " + manifest.value("shard", "a shard") +
                    "; join the shards with attnscale merge, then verify the whole run");
  }
  return manifest;
}

void check_file(const fs::path& folder, const Json& entry, Faults& faults) {
  const std::string name = entry.value("name", "");
  if (!fs::is_regular_file(folder / name)) {
    faults.push_back(name + " is missing");
    return;
  }
  const std::string found = sha256_hex_of_file(folder / name);
  const std::string noted = entry.value("sha256", "");
  if (found == noted) return;
  faults.push_back(name + " is not as it was written: its SHA-256 is " + found.substr(0, 12) +
                   "..., the manifest says " + noted.substr(0, 12) + "...");
}

void check_files(const fs::path& folder, const Json& manifest, Faults& faults) {
  for (const Json& entry : manifest["files"]) check_file(folder, entry, faults);
  for (const char* name : {"summary.csv", "config.json"}) {
    const auto has_name = [name](const Json& entry) { return entry.value("name", "") == name; };
    if (std::none_of(manifest["files"].begin(), manifest["files"].end(), has_name)) {
      faults.push_back(std::string(name) + " is not among the manifest's files");
    }
  }
}

// What a line of a drawn cell must agree with.
struct ExpectedLine {
  ResultRow row;  // its key and metric; all of it for given numbers, which leave nothing to chance
  const Cell* cell = nullptr;
  const Experiment* experiment = nullptr;
};

void expect_cell(const Plan& plan, const Cell& cell, ExactValues& exact,
                 std::vector<ExpectedLine>& lines) {
  const Experiment& experiment = plan.config.experiments[cell.experiment];
  for (const Scaling& scaling : experiment.scalings) {
    const auto references = exact.of(experiment, cell, scaling);
    for (std::size_t m = 0; m < experiment.metrics.size(); ++m) {
      ExpectedLine line{{}, &cell, &experiment};
      line.row.key = key_of(plan.config, cell, scaling);
      line.row.metric = experiment.metrics[m]->name;
      line.row.reference = references[m];
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
      auto given = measure_given(plan.config, experiment);
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

// What is wrong with a line apart from its estimate; empty where nothing is.
std::string fault_of(const ExpectedLine& expected, const ResultRow& row) {
  if (expected.cell == nullptr) return row == expected.row ? "" : "is not what its numbers give";
  if (auto fault = check_queries(*expected.experiment, *expected.cell, row); !fault.empty()) {
    return fault;
  }
  if (!is_same_reference(row.reference, expected.row.reference)) {
    return "has the exact value " + (row.reference ? shortest(*row.reference) : "none") +
           "; it is " + (expected.row.reference ? shortest(*expected.row.reference) : "not known");
  }
  return "";
}

void check_against_config(const Plan& plan, const std::vector<ResultRow>& rows, Faults& faults) {
  constexpr std::size_t kMostShown = 5;
  const std::vector<ExpectedLine> expected = expected_lines(plan);
  if (rows.size() != expected.size()) {
    faults.push_back("summary.csv has " + std::to_string(rows.size()) +
                     " lines; the config asks for " + std::to_string(expected.size()));
    return;
  }
  std::size_t found = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_asked_for =
        rows[i].key == expected[i].row.key && rows[i].metric == expected[i].row.metric;
    const std::string fault = is_asked_for
                                  ? fault_of(expected[i], rows[i])
                                  : "stands where the config has " + describe_line(expected[i].row);
    if (!fault.empty() && found++ < kMostShown) {
      faults.push_back(describe_line(rows[i]) + " " + fault);
    }
  }
  if (found > kMostShown) {
    faults.push_back("... and " + std::to_string(found - kMostShown) + " more lines like these");
  }
}

void check_scalings(const Plan& plan, Faults& faults) {
  for (const Experiment& experiment : plan.config.experiments) {
    for (const std::int64_t d : experiment.d) {
      for (std::string& fault : check_scaling_names(experiment, d)) {
        faults.push_back(std::move(fault));
      }
    }
  }
}

std::string line_text(const CheckedLine& line) {
  return "  " + describe_line(line.row) + ": " + rounded(*line.row.estimate, 8) + ", exactly " +
         rounded(*line.row.reference, 8) + "; " + rounded(line.distance, 2) +
         " standard errors off, allowed " + rounded(line.bound, 2) + "\n";
}

std::string check_text(const LineCheck& check) {
  const std::int64_t decided = check.lines - check.undecided;
  std::string text =
      std::to_string(decided) + " lines against their exact values: " +
      (check.beyond == 0 ? "all as near as chance allows"
                         : std::to_string(check.beyond) + " further than chance allows") +
      " (right numbers give such an alarm in one run of " +
      std::to_string(static_cast<int>(kRunsPerFalseAlarm)) + ")\n";
  if (check.undecided > 0) {
    text += std::to_string(check.undecided) +
            " more lines are carried by too few queries to decide anything\n";
  }
  if (!check.worst.empty()) text += "the furthest:\n";
  for (const CheckedLine& line : check.worst) text += line_text(line);
  return text;
}

// Faults of what the files say; `text` gets what was compared.
void check_contents(const fs::path& folder, const Json& manifest, std::string& text,
                    Faults& faults) {
  const std::string config_text = read_bytes(folder / "config.json");
  const Config config = parse_config(config_text, (folder / "config.json").string()).config;
  const std::string version = manifest.value("version", "");
  const RunIdentity noted{version, manifest["config"].dump()};
  if (const auto found = first_difference({version, config_text}, noted)) {
    faults.push_back("config.json and the manifest differ: " + found->key + " is " + found->ours +
                     " and " + found->theirs);
  }
  const Plan plan = make_plan(config);
  const std::vector<ResultRow> rows = read_summary(folder / "summary.csv");
  check_against_config(plan, rows, faults);
  check_scalings(plan, faults);
  text += std::to_string(rows.size()) + " lines of summary.csv, their queries and exact values " +
          "against config.json\n";
  const LineCheck check = check_lines(plan, rows);
  text += check_text(check);
  if (check.beyond > 0) {
    faults.push_back(std::to_string(check.beyond) +
                     " estimates lie further from their exact values than chance allows, the "
                     "first of those above");
  }
}

}  // namespace

Verification verify_folder(const fs::path& folder) {
  const Json manifest = read_manifest(folder);
  Faults faults;
  check_files(folder, manifest, faults);
  std::string text = "checked " + folder.string() + "\n" +
                     std::to_string(manifest["files"].size()) +
                     " files by their SHA-256 in manifest.json\n";
  try {
    check_contents(folder, manifest, text, faults);
  } catch (const std::exception& error) {
    faults.push_back(std::string("cannot be read: ") + error.what());
  }
  if (faults.empty()) return {text + "no mismatch\n", ExitCode::kDone};
  text +=
      std::to_string(faults.size()) + (faults.size() == 1 ? " mismatch" : " mismatches") + ":\n";
  for (const std::string& fault : faults) text += "  " + fault + "\n";
  return {text, ExitCode::kMismatch};
}

}  // namespace attnscale
