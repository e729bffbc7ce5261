// The machine-readable account of a run: manifest.json, written at its end, and the lines of
// events.jsonl. This is the only place that spells the manifest's keys; JSON is not visible
// outside.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/version.h"
#include "execution/shard.h"
#include "io/atomic_file.h"
#include "report/report.h"

namespace attnscale {

/// What a folder holds of a run: all of it, one of its shards, or a pool of runs of several seeds.
struct RunPart {
  std::optional<Shard> shard = {};        ///< empty for the whole run
  std::vector<std::uint64_t> seeds = {};  ///< of the runs of a pool; empty for one run

  bool is_pool() const { return !seeds.empty(); }
  std::int64_t runs() const { return is_pool() ? static_cast<std::int64_t>(seeds.size()) : 1; }

  friend bool operator==(const RunPart&, const RunPart&) = default;
};

/// "the whole run", "shard 2 of 3", "pool of 3 runs".
std::string short_name(const RunPart& part);

/// The same with the seeds of a pool: "pool of 3 runs: seeds 1 2 3". As manifest.json has it.
std::string to_string(const RunPart& part);

/// The shard of a text such as "2/7", with what is between its numbers; empty if it is none.
std::optional<Shard> parse_shard(std::string_view text, std::string_view between);

/// The part of that name; empty if there is none.
std::optional<RunPart> parse_run_part(std::string_view name);

inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::string_view kLogName = "events.jsonl";

/// The status of a run that measured all it was asked for.
inline constexpr std::string_view kFinishedStatus = "finished";

/// A file of a run as it was written.
struct ManifestFile {
  std::string name;
  std::string sha256;
  std::uintmax_t bytes = 0;
  std::int64_t lines = 0;

  friend bool operator==(const ManifestFile&, const ManifestFile&) = default;
};

/// The entry of a file.
ManifestFile entry_of(const NamedBytes& file);

/// JSON as text; its layout has no meaning.
struct JsonText {
  std::string text = "{}";

  friend bool operator==(const JsonText&, const JsonText&) = default;
};

/// How the numbers of a run came about, and how the run ended.
struct Manifest {
  std::string program = "attnscale";
  Build build = {};
  std::string vector_target;
  bool bytes_promised = false;
  std::string host, system;
  std::vector<std::string> arguments;
  int threads = 1;
  std::string run;
  std::uint64_t seed = 0;
  std::string fingerprint;
  RunPart part;                ///< under the key "shard"
  std::string started, ended;  ///< ISO 8601, in UTC
  double seconds = 0;
  std::string status;  ///< kFinishedStatus, interrupted or failed
  int exit_code = 0;
  std::vector<std::string> warnings;
  ReportWords words;  ///< of the config
  JsonText config;    ///< resolved
  std::vector<ManifestFile> files;

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

/// The text of manifest.json. Bytes that are not UTF-8, as arguments may hold, become U+FFFD.
std::string to_json_text(const Manifest& manifest);

/// Reads such a text, from any version of the program: keys that not every version writes may be
/// absent. Empty if the text is not a manifest.
std::optional<Manifest> parse_manifest(std::string_view text);

/// The manifest in `folder`; empty if there is no such file or it is not a manifest.
std::optional<Manifest> read_manifest(const std::filesystem::path& folder);

using Fact = std::variant<std::int64_t, std::string, std::vector<std::string>>;

/// One line of events.jsonl, without its line end; `facts` are the event's own. Bytes that are not
/// UTF-8 become U+FFFD.
std::string event_line(const std::string& time, const std::string& event,
                       const std::vector<std::pair<std::string, Fact>>& facts);

}  // namespace attnscale
