#include "app/run_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "app/version.h"
#include "io/json_text.h"
#include "io/result_files.h"
#include "io/whole_file.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

namespace fs = std::filesystem;

// Every file that `run` may leave in its folder, apart from its log.
std::vector<std::string> run_files() {
  std::vector<std::string> names = result_file_names();
  names.insert(names.end(),
               {"config.json", std::string(kManifestName), std::string(kCheckpointName)});
  return names;
}

// Refuses a path through a file, and folders in the places of the run's files.
void expect_room_for_a_run(const fs::path& folder) {
  for (fs::path part; const fs::path& name : folder) {
    part /= name;
    const fs::file_status status = fs::status(part);
    if (!fs::exists(status) || fs::is_directory(status)) continue;
    throw UserError(part.string() + " is a file; write into a folder with --out DIR");
  }
  std::vector<std::string> names = run_files();
  names.emplace_back(kLogName);
  for (const std::string& name : names) {
    if (!fs::is_directory(folder / name)) continue;
    throw UserError((folder / name).string() +
                    " is a folder, where a run writes a file; move it away, or write elsewhere "
                    "with --out DIR");
  }
}

// Whether a log begins like one of ours; a kill may have cut it anywhere.
bool is_our_log(std::string_view log) {
  constexpr std::string_view kBeginning = "{\"time\":\"";
  return log.substr(0, kBeginning.size()) == kBeginning.substr(0, log.size());
}

// What only an unfinished run needs. The checkpoint of a shard is its result.
std::vector<fs::path> unfinished_files(const fs::path& folder, std::optional<Shard> shard) {
  std::vector<fs::path> files = {folder / (std::string(kCheckpointName) + ".tmp")};
  if (!shard) files.push_back(folder / kCheckpointName);
  return files;
}

// A replacement that was put in its place already, or has not begun.
bool has_empty_replacement(const fs::path& folder) {
  const fs::path replacement = folder / kReplacementName;
  return fs::is_directory(replacement) && !fs::exists(replacement / kManifestName);
}

// Which file of a finished run is missing or has another length, and which of the two; empty if
// none.
std::string first_damage(const fs::path& folder, const Manifest& manifest) {
  for (const ManifestFile& file : manifest.files) {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(folder / file.name, error);
    if (error) return file.name + " is missing";
    if (file.bytes != bytes) return file.name + " was changed";
  }
  return "";
}

// How the run that a manifest describes differs from the wanted one; empty if it does not.
std::string difference_from(const Manifest& manifest, const WantedRun& wanted) {
  if (const auto found =
          first_difference(wanted.identity, {manifest.build.version, manifest.config.text})) {
    if (found->key == "/experiments") return "it has another list of experiments";
    return found->key == "version"
               ? fmt::format("it was made by version {}, this is {}", found->theirs, found->ours)
               : fmt::format("{} is {} there and {} here", found->key, shortened(found->theirs),
                             shortened(found->ours));
  }
  if (manifest.part == wanted.part) return "";
  return fmt::format("it is {}, this is {}", to_string(manifest.part), to_string(wanted.part));
}

FolderContents another_run(const std::string& difference) {
  return {.state = FolderState::kOther, .difference = difference};
}

// What the folder holds according to its manifest; empty if only a checkpoint can say.
std::optional<FolderContents> contents_by_manifest(const fs::path& folder,
                                                   const WantedRun& wanted) {
  if (!fs::exists(folder / kManifestName)) return std::nullopt;
  const auto other = [&](const std::string& what) {
    return another_run(fmt::format("{} holds {}", folder.string(), what));
  };
  const std::optional<Manifest> manifest = read_manifest(folder);
  if (!manifest) return other("a manifest.json that is damaged or not of attnscale");
  const std::string difference = difference_from(*manifest, wanted);
  if (!difference.empty()) return other("another run: " + difference);
  if (manifest->status != kFinishedStatus) return std::nullopt;
  const std::string damage = first_damage(folder, *manifest);
  if (!damage.empty()) return other("this run, but since it finished " + damage);
  const bool missed = manifest->exit_code == static_cast<int>(ExitCode::kTargetNotReached);
  return FolderContents{.state = FolderState::kFinished,
                        .exit_code = missed ? ExitCode::kTargetNotReached : ExitCode::kDone};
}

}  // namespace

RunIdentity identity_of(const Config& config) {
  return {this_build().version, to_json_text(config)};
}

fs::path results_folder(const Config& config, const std::vector<Override>& overrides,
                        std::optional<Shard> shard) {
  std::string name = config.name;
  if (!overrides.empty()) name.append("-").append(fingerprint(identity_of(config)), 0, 8);
  if (shard) name += fmt::format(".shard-{}-of-{}", shard->index, shard->count);
  return fs::path("results") / name;
}

void expect_folder(const fs::path& folder, std::string_view what) {
  const fs::file_status status = fs::status(folder);
  if (!fs::exists(status)) {
    throw UserError(
        fmt::format("{}: no such folder; expected that of {}, which attnscale run makes",
                    folder.string(), what));
  }
  if (!fs::is_directory(status)) {
    throw UserError(fmt::format("{}: is a file; expected the folder of {}", folder.string(), what));
  }
}

Results read_finished(const fs::path& folder) {
  expect_folder(folder, "a finished run");
  if (fs::exists(folder / "summary.csv")) return read_results(folder);
  const std::optional<Manifest> manifest = read_manifest(folder);
  if (manifest && manifest->part.shard) {
    throw UserError(fmt::format("{}: holds {} of a run; join all of them with attnscale merge",
                                folder.string(), to_string(manifest->part)));
  }
  throw UserError(folder.string() + ": holds no finished run (no summary.csv in it)");
}

FolderContents inspect_folder(const fs::path& folder, const WantedRun& wanted) {
  expect_room_for_a_run(folder);
  if (auto contents = contents_by_manifest(folder, wanted)) return std::move(*contents);
  FolderContents contents;
  if (const auto checkpoint = load_checkpoint(folder)) {
    const std::string other =
        other_run_in(folder, *checkpoint, wanted.identity, wanted.part.shard.value_or(Shard{}));
    if (!other.empty()) return another_run(other);
    contents.state = FolderState::kUnfinished;
    contents.measured = read_cells(*checkpoint, wanted.plan);
    return contents;
  }
  if (fs::exists(folder / kManifestName)) {
    contents.warning = fmt::format("{} holds this run, unfinished, but no {}: it starts again",
                                   folder.string(), kCheckpointName);
    return contents;
  }
  // With our log they are what a kill left of a short run: it starts again.
  if (const auto log = read_file_if_any(folder / kLogName)) {
    if (is_our_log(*log)) return contents;
    return another_run(
        fmt::format("{} holds {} that is not of attnscale", folder.string(), kLogName));
  }
  if (!fs::exists(folder)) return contents;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name == ".lock") continue;  // ours, or of a run that was killed
    return another_run(fmt::format("{} holds {}, but no manifest that says which run it is from",
                                   folder.string(), name));
  }
  return contents;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  // An existing file is an error in some libraries only, hence the second question.
  if (!error && fs::is_directory(folder)) return;
  throw std::runtime_error(fmt::format("cannot make the folder {}: {}; choose another with --out",
                                       folder.string(),
                                       error ? error.message() : "a file of that name is there"));
}

fs::path run_place(const fs::path& folder) {
  fs::path replacement = folder / kReplacementName;
  const std::optional<Manifest> manifest = read_manifest(replacement);
  const bool whole = manifest && manifest->status == kFinishedStatus &&
                     first_damage(replacement, *manifest).empty();
  return whole ? replacement : folder;
}

void put_in_place(const fs::path& folder) {
  const fs::path replacement = folder / kReplacementName;
  clear_folder(folder);
  for (const auto& file : fs::directory_iterator(replacement)) {
    const fs::path place = folder / file.path().filename();
    std::error_code no_links;  // as on file systems that have none
    fs::create_hard_link(file.path(), place, no_links);
    if (no_links) fs::copy_file(file.path(), place, fs::copy_options::overwrite_existing);
  }
  fs::remove(replacement / kManifestName);  // from here on, run_place is the folder
  fs::remove_all(replacement);
}

bool has_leftovers(const fs::path& folder, std::optional<Shard> shard) {
  const auto exists = [](const fs::path& path) { return fs::exists(path); };
  return fs::exists(folder / ".lock") || has_empty_replacement(folder) ||
         std::ranges::any_of(unfinished_files(folder, shard), exists);
}

void remove_leftovers(const fs::path& folder, std::optional<Shard> shard) noexcept {
  try {
    for (const fs::path& file : unfinished_files(folder, shard)) fs::remove(file);
    if (!has_empty_replacement(folder)) return;
    const fs::path replacement = folder / kReplacementName;
    clear_folder(replacement);
    if (fs::is_empty(replacement)) fs::remove(replacement);
  } catch (const std::exception&) {
    return;
  }
}

void clear_folder(const fs::path& folder) {
  for (const std::string& name : run_files()) {
    fs::remove(folder / name);
    fs::remove(folder / (name + ".tmp"));
  }
  fs::remove(folder / kLogName);
  fs::remove(folder / "report.html");
  const fs::path figures = folder / "figures";
  if (!fs::is_directory(figures)) return;
  for (const auto& entry : fs::directory_iterator(figures)) {
    const std::string name = entry.path().filename();
    const auto is_ours = [&](const char* ending) { return name.ends_with(ending); };
    constexpr std::array kEndings = {".svg", ".png", ".pdf", ".vl.json"};
    if (std::ranges::any_of(kEndings, is_ours)) fs::remove(entry.path());
  }
  if (fs::is_empty(figures)) fs::remove(figures);
}

}  // namespace attnscale
