#include "app/run_folder.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "app/fingerprint.h"
#include "io/result_writer.h"

namespace attnscale {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

// Every file that `run` may leave in its folder, beside its log.
std::vector<std::string> run_files() {
  std::vector<std::string> names = result_file_names();
  names.insert(names.end(), {"config.json", "manifest.json", std::string(kCheckpointName)});
  return names;
}

// Nothing where the file is not a manifest of ours.
std::optional<Json> read_manifest(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  Json manifest = Json::parse(file, nullptr, false);
  const auto has = [&](const char* key, Json::value_t type) {
    return manifest.contains(key) && manifest[key].type() == type;
  };
  const bool ours = manifest.is_object() && has("config", Json::value_t::object) &&
                    has("status", Json::value_t::string) && has("version", Json::value_t::string) &&
                    has("shard", Json::value_t::string) && has("files", Json::value_t::array);
  return ours ? std::optional(std::move(manifest)) : std::nullopt;
}

// The first file of a finished run that is gone or has another length, and which; else empty.
std::string first_damage(const fs::path& folder, const Json& manifest) {
  for (const Json& file : manifest["files"]) {
    const std::string name = file.value("name", "");
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(folder / name, error);
    if (error) return name + " is missing";
    if (file.value("bytes", std::uintmax_t{0}) != bytes) return name + " was changed";
  }
  return "";
}

std::string shortened(const std::string& value) {
  constexpr std::size_t kLongest = 60;  // enough to see what it is
  return value.size() <= kLongest ? value : value.substr(0, kLongest) + "...";
}

// How the run a manifest tells of differs from the wanted one; empty where it does not.
std::string difference_from(const Json& manifest, const WantedRun& wanted) {
  const RunIdentity theirs{manifest["version"], manifest["config"].dump()};
  if (const auto found = first_difference(wanted.identity, theirs)) {
    if (found->key == "version") {
      return "it was made by version " + found->theirs + ", this is " + found->ours;
    }
    return found->key + " is " + shortened(found->theirs) + " there and " + shortened(found->ours) +
           " here";
  }
  const std::string shard = manifest["shard"];
  const std::string wanted_part = part_name(wanted.shard);
  if (shard != wanted_part) return "it is " + shard + ", this is " + wanted_part;
  return "";
}

// What a folder's manifest says of it; nothing where only a checkpoint can tell.
std::optional<FolderContents> contents_by_manifest(const fs::path& folder,
                                                   const WantedRun& wanted) {
  if (!fs::exists(folder / "manifest.json")) return std::nullopt;
  const auto other = [&](const std::string& difference) {
    FolderContents contents;
    contents.state = FolderState::kOther;
    contents.difference = folder.string() + " holds " + difference;
    return contents;
  };
  const std::optional<Json> manifest = read_manifest(folder / "manifest.json");
  if (!manifest) return other("a manifest.json that is damaged or not of attnscale");
  const std::string difference = difference_from(*manifest, wanted);
  if (!difference.empty()) return other("another run: " + difference);
  if ((*manifest)["status"] != "finished") return std::nullopt;
  const std::string damage = first_damage(folder, *manifest);
  if (!damage.empty()) return other("this run, but since it finished " + damage);
  const auto missed = static_cast<int>(ExitCode::kTargetNotReached);
  FolderContents contents;
  contents.state = FolderState::kFinished;
  if (manifest->value("exit_code", 0) == missed) contents.exit_code = ExitCode::kTargetNotReached;
  return contents;
}

}  // namespace

std::string part_name(std::optional<Shard> shard) {
  if (!shard) return "the whole run";
  return "shard " + std::to_string(shard->index) + " of " + std::to_string(shard->count);
}

fs::path results_folder(const RunCommand& run, const Config& config) {
  if (run.out) return *run.out;
  std::string name = config.name;
  if (!run.overrides.empty()) name.append("-").append(fingerprint(config), 0, 8);
  if (run.shard) {
    name.append(".shard-").append(std::to_string(run.shard->index));
    name.append("-of-").append(std::to_string(run.shard->count));
  }
  return fs::path("results") / name;
}

FolderContents inspect_folder(const fs::path& folder, const WantedRun& wanted) {
  if (auto contents = contents_by_manifest(folder, wanted)) return std::move(*contents);
  FolderContents contents;
  contents.checkpoint = load_checkpoint(folder);
  if (contents.checkpoint) {
    contents.state = FolderState::kUnfinished;
    try {
      check_same_run(*contents.checkpoint, wanted.identity, wanted.shard.value_or(Shard{}),
                     wanted.plan, folder);
    } catch (const AnotherRun& error) {
      contents.state = FolderState::kOther;
      contents.difference = error.what();
    }
    return contents;
  }
  if (fs::exists(folder / "manifest.json")) {
    contents.warning = folder.string() + " holds this run, not finished, but no " +
                       std::string(kCheckpointName) + ": it begins again";
    return contents;
  }
  // Beside a log of ours they are what a kill left of a short run: it begins again.
  if (fs::exists(folder / "events.jsonl")) return contents;
  for (const std::string& name : run_files()) {
    if (!fs::exists(folder / name)) continue;
    contents.state = FolderState::kOther;
    contents.difference =
        folder.string() + " holds " + name + ", and no manifest that says of which run";
    break;
  }
  return contents;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  // An existing file is an error to some libraries and none to others, hence the second question.
  if (!error && fs::is_directory(folder)) return;
  throw std::runtime_error("cannot make the folder " + folder.string() + ": " +
                           (error ? error.message() : "a file of that name is there") +
                           "; choose another with --out");
}

void clear_folder(const fs::path& folder) {
  for (const std::string& name : run_files()) {
    fs::remove(folder / name);
    fs::remove(folder / (name + ".tmp"));
  }
  fs::remove(folder / "events.jsonl");
  const fs::path figures = folder / "figures";
  if (!fs::is_directory(figures)) return;
  for (const auto& entry : fs::directory_iterator(figures)) {
    const std::string kind = entry.path().extension();
    if (kind == ".svg" || kind == ".png" || kind == ".pdf") fs::remove(entry.path());
  }
  if (fs::is_empty(figures)) fs::remove(figures);
}

}  // namespace attnscale
