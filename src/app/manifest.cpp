#include "app/manifest.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>

#include "io/json_text.h"
#include "io/sha256.h"
#include "io/whole_file.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

constexpr std::string_view kShard = "shard ", kOf = " of ", kPool = "pool of ", kSeeds = ": seeds ";

// What follows `mark` in `text`; empty if `text` has no such mark.
std::string_view after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  return at == std::string_view::npos ? "" : text.substr(at + mark.size());
}

std::optional<RunPart> parse_pool(std::string_view name) {
  RunPart part;
  for (std::string_view rest = after(name, kSeeds); !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const auto seed = parse_number<std::uint64_t>(rest.substr(0, end));
    if (!seed) return std::nullopt;
    part.seeds.push_back(*seed);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return to_string(part) == name ? std::optional(part) : std::nullopt;
}

using Json = nlohmann::ordered_json;

enum class Need { kMayBeAbsent, kRequired };

// Every key of a manifest and its member; `visit(key, value, need)` writes or reads it.
template <typename AnyManifest, typename Visitor>
void visit_keys(AnyManifest& manifest, const Visitor& visit) {
  visit("program", manifest.program);
  visit("version", manifest.build.version, Need::kRequired);
  visit("commit", manifest.build.commit);
  visit("commit_has_changes", manifest.build.commit_has_changes);
  visit("compiler", manifest.build.compiler);
  visit("build_type", manifest.build.build_type);
  visit("libraries", manifest.build.libraries);
  visit("vector_target", manifest.vector_target);
  visit("bytes_promised", manifest.bytes_promised);
  visit("host", manifest.host);
  visit("system", manifest.system);
  visit("arguments", manifest.arguments);
  visit("threads", manifest.threads);
  visit("run", manifest.run);
  visit("seed", manifest.seed);
  visit("fingerprint", manifest.fingerprint);
  visit("shard", manifest.part, Need::kRequired);
  visit("started", manifest.started);
  visit("ended", manifest.ended);
  visit("seconds", manifest.seconds);
  visit("status", manifest.status, Need::kRequired);
  visit("exit_code", manifest.exit_code);
  visit("warnings", manifest.warnings);
  visit("logits", manifest.words.logits);
  visit("given", manifest.words.given);
  visit("config", manifest.config, Need::kRequired);
  visit("files", manifest.files, Need::kRequired);
}

template <typename AnyFile, typename Visitor>
void visit_file_keys(AnyFile& file, const Visitor& visit) {
  visit("name", file.name, Need::kRequired);
  visit("sha256", file.sha256, Need::kRequired);
  visit("bytes", file.bytes, Need::kRequired);
  visit("lines", file.lines);
}

struct Writer {
  Json& json;

  template <typename Value>
  void operator()(const char* key, const Value& value, Need = Need::kMayBeAbsent) const {
    json[key] = value;
  }
};

struct Reader {
  const Json& json;

  template <typename Value>
  void operator()(const char* key, Value& value, Need need = Need::kMayBeAbsent) const {
    if (need == Need::kRequired || json.contains(key)) json.at(key).get_to(value);
  }
};

std::string dumped(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string short_name(const RunPart& part) {
  if (part.is_pool()) return fmt::format("{}{} runs", kPool, part.runs());
  if (!part.shard) return std::string(kWholeRun);
  return fmt::format("{}{}{}{}", kShard, part.shard->index, kOf, part.shard->count);
}

std::string to_string(const RunPart& part) {
  std::string name = short_name(part);
  for (std::size_t i = 0; i < part.seeds.size(); ++i) {
    name += fmt::format("{}{}", i == 0 ? kSeeds : " ", part.seeds[i]);
  }
  return name;
}

std::optional<Shard> parse_shard(std::string_view text, std::string_view between) {
  const auto index = parse_number<std::int64_t>(text.substr(0, text.find(between)));
  const auto count = parse_number<std::int64_t>(after(text, between));
  if (!index || !count || *index < 1 || *index > *count) return std::nullopt;
  return Shard{*index, *count};
}

std::optional<RunPart> parse_run_part(std::string_view name) {
  if (name == kWholeRun) return RunPart{};
  if (name.starts_with(kShard)) {
    const auto shard = parse_shard(name.substr(kShard.size()), kOf);
    return shard ? std::optional(RunPart{.shard = shard}) : std::nullopt;
  }
  return name.starts_with(kPool) ? parse_pool(name) : std::nullopt;
}

// Found by nlohmann/json, which looks in the namespace of the type.
static void to_json(Json& json, const JsonText& config) {
  json = parse_json(config.text);
}

static void from_json(const Json& json, JsonText& config) {
  json.get_ref<const Json::object_t&>();  // throws if it is not an object
  config.text = json.dump();
}

static void to_json(Json& json, const RunPart& part) {
  json = to_string(part);
}

static void from_json(const Json& json, RunPart& part) {
  part = parse_run_part(json.get_ref<const std::string&>()).value();
}

static void to_json(Json& json, const ManifestFile& file) {
  visit_file_keys(file, Writer{json});
}

static void from_json(const Json& json, ManifestFile& file) {
  visit_file_keys(file, Reader{json});
}

ManifestFile entry_of(const NamedBytes& file) {
  return {file.name, sha256_hex(file.bytes), file.bytes.size(),
          std::ranges::count(file.bytes, '\n')};
}

std::string to_json_text(const Manifest& manifest) {
  Json json;
  visit_keys(manifest, Writer{json});
  return dumped(json, 2) + "\n";
}

std::optional<Manifest> parse_manifest(std::string_view text) {
  try {
    Manifest manifest;
    const Json json = parse_json(text);
    visit_keys(manifest, Reader{json});
    return manifest;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<Manifest> read_manifest(const std::filesystem::path& folder) {
  const std::optional<std::string> text = read_file_if_any(folder / kManifestName);
  return text ? parse_manifest(*text) : std::nullopt;
}

std::string event_line(const std::string& time, const std::string& event,
                       const std::vector<std::pair<std::string, Fact>>& facts) {
  Json line{{"time", time}, {"event", event}};
  for (const auto& [key, fact] : facts) {
    std::visit([&line, &key = key](const auto& value) { line[key] = value; }, fact);
  }
  return dumped(line, -1);
}

}  // namespace attnscale
