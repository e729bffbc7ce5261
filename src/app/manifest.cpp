#include "app/manifest.h"

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>

#include "io/json_text.h"
#include "io/sha256.h"
#include "io/whole_file.h"

namespace attnscale {
namespace {

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
