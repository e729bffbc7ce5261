#include "app/pool.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "app/manifest.h"
#include "app/run_folder.h"
#include "config/config.h"
#include "config/user_error.h"
#include "io/json_text.h"
#include "io/printable.h"
#include "io/result_files.h"
#include "io/result_tables.h"
#include "io/sha256.h"
#include "report/number_text.h"
#include "report/screen_table.h"

namespace attnscale {
namespace {

namespace fs = std::filesystem;

struct SeededRun {
  std::string folder;
  Manifest manifest;
  Results results;

  RunIdentity identity() const { return {manifest.build.version, manifest.config.text}; }
};

[[noreturn]] void refuse_pool(const std::string& message) {
  throw UserError("attnscale pool: " + message);
}

bool is_whole_run(const std::optional<Manifest>& manifest) {
  return manifest && manifest->status == kFinishedStatus && manifest->part == RunPart{};
}

// A file that was edited would spoil all of the pool.
void expect_as_written(const fs::path& folder, const Manifest& manifest) {
  for (const ManifestFile& file : manifest.files) {
    const bool is_there = fs::is_regular_file(folder / file.name);
    if (is_there && sha256_hex_of_file(folder / file.name) == file.sha256) continue;
    refuse_pool(fmt::format("{}: {} is {}; attnscale verify {} says more", folder.string(),
                            file.name, is_there ? "not as it was written" : "missing",
                            shell_word(folder.string())));
  }
}

SeededRun read_run(const std::string& folder) {
  const fs::path place = run_place(folder);
  SeededRun run{folder, {}, read_finished(place)};
  const std::optional<Manifest> manifest = read_manifest(place);
  if (!is_whole_run(manifest)) {
    refuse_pool(fmt::format(
        "{}: {}; name the folders of finished runs", folder,
        manifest ? fmt::format("holds {}, {}", to_string(manifest->part), manifest->status)
                 : std::string("has no manifest.json that says how it was run")));
  }
  run.manifest = *manifest;
  expect_as_written(place, run.manifest);
  if (fs::exists(place / "contrasts.csv")) {
    run.results.contrasts = read_rows<ContrastRow>(place / "contrasts.csv");
  }
  if (fs::exists(place / "histogram.csv")) {
    run.results.histogram = read_rows<HistogramRow>(place / "histogram.csv");
  }
  return run;
}

void expect_other_seeds_alone(const SeededRun& first, const SeededRun& run) {
  const auto found =
      first_difference(first.identity(), with_seed(run.identity(), first.manifest.seed));
  if (!found) return;
  refuse_pool(fmt::format(
      "{} and {} differ in more than their seed: {} is {} in the first and {} "
      "in the second; attnscale compare shows what that changes",
      first.folder, run.folder, found->key, shortened(found->ours), shortened(found->theirs)));
}

}  // namespace

PooledRun read_pool(const std::vector<std::string>& folders) {
  std::vector<SeededRun> runs;
  for (const std::string& folder : folders) {
    runs.push_back(read_run(folder));
    expect_other_seeds_alone(runs.front(), runs.back());
  }
  const auto seed_of = [](const SeededRun& run) { return run.manifest.seed; };
  std::ranges::stable_sort(runs, {}, seed_of);
  const auto twin = std::ranges::adjacent_find(runs, {}, seed_of);
  if (twin != runs.end()) {
    refuse_pool(
        fmt::format("{} and {} have the same seed, {}, and so the same numbers; each run "
                    "of a pool needs its own",
                    twin->folder, std::next(twin)->folder, seed_of(*twin)));
  }
  PooledRun pooled;
  pooled.plan = make_plan(
      parse_config(runs.front().manifest.config.text, runs.front().folder + "/manifest.json")
          .config);
  pooled.identity = identity_of(pooled.plan.config);
  std::vector<Results> results;
  for (SeededRun& run : runs) {
    pooled.seeds.push_back(run.manifest.seed);
    results.push_back(std::move(run.results));
  }
  pooled.results = pool_results(results);
  pooled.coverage = coverage_of(results);
  return pooled;
}

bool are_runs_of_other_seeds(const std::vector<std::string>& folders) {
  std::vector<std::uint64_t> seeds;
  for (const std::string& folder : folders) {
    const std::optional<Manifest> manifest = read_manifest(run_place(folder));
    if (!is_whole_run(manifest)) return false;
    seeds.push_back(manifest->seed);
  }
  return std::ranges::adjacent_find(seeds, std::ranges::not_equal_to()) != seeds.end();
}

std::string coverage_text(const std::vector<CoverageRow>& coverage, std::size_t width) {
  if (coverage.empty()) return "";
  ScreenTable screen;
  screen.caption = "95 % intervals that hold the exact value";
  screen.header = {"experiment", "metric", "lines", "intervals", "hold it", "share"};
  screen.label_columns = 2;
  CoverageRow sum;
  std::int64_t lines = 0;
  const auto add_sum = [&](const CoverageRow& first) {
    screen.rows.push_back({first.key.experiment, first.metric, std::to_string(lines),
                           grouped(sum.intervals), grouped(sum.holding),
                           sum.intervals == 0 ? ""
                                              : with_places(static_cast<double>(sum.holding) /
                                                                static_cast<double>(sum.intervals),
                                                            3)});
  };
  std::vector<std::pair<std::string, std::string>> told;
  for (const CoverageRow& first : coverage) {
    const std::pair name(first.key.experiment, first.metric);
    if (std::ranges::find(told, name) != told.end()) continue;
    told.push_back(name);
    sum = {};
    lines = 0;
    for (const CoverageRow& row : coverage) {
      if (std::pair(row.key.experiment, row.metric) != name) continue;
      ++lines;
      sum.intervals += row.intervals;
      sum.holding += row.holding;
    }
    add_sum(first);
  }
  screen.notes.push_back(
      fmt::format("line by line in {}; lines of the same queries err together", kCoverageName));
  return to_text(screen, width);
}

}  // namespace attnscale
