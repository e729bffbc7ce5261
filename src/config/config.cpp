#include "config/config.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "config/axis.h"
#include "config/entries_object.h"
#include "config/experiment_checks.h"
#include "config/experiment_object.h"
#include "config/file_lines.h"
#include "config/given_object.h"
#include "config/json_document.h"
#include "config/law_object.h"
#include "config/nearest_name.h"
#include "config/object.h"
#include "config/scaling_object.h"
#include "config/schema.h"
#include "config/stop_object.h"
#include "config/user_presets.h"
#include "config/values.h"
#include "io/whole_file.h"

namespace attnscale {
namespace {

constexpr double kMostCells = 1e6;
constexpr std::size_t kMostExperiments = 10'000;
constexpr std::array<std::string_view, 2> kReferenceNames = {"auto",
                                                             "off"};  // as the enum has them
static_assert(static_cast<std::size_t>(ReferenceMode::kOff) == 1);

// A config in the making, and the sampler of experiments that name none.
struct ConfigDraft : Config {
  const SamplerRow* sampler = &sampler_table().front();
  std::vector<std::string> warnings;
  FileLines lines;
};

using ConfigRow = Row<ConfigDraft, const Config>;

std::vector<std::string_view> config_keys();

void read_schema_path(const JsonValue& value, const Field&, ConfigDraft&) {
  read_text(value);
}

// Refuses a key of `value` that belongs `elsewhere`; `where` ends the sentence.
void refuse_misplaced(const JsonValue& value, const std::vector<std::string_view>& own,
                      const std::vector<std::string_view>& elsewhere, const char* where) {
  for (const JsonMember& member : value.members) {
    if (std::ranges::find(own, member.name) != own.end()) continue;
    if (std::ranges::find(elsewhere, member.name) == elsewhere.end()) continue;
    refuse(member.place, member.value.pointer, quote(member.name) + where);
  }
}

// They are in the scalings by now.
void read_presets(const JsonValue&, const Field&, ConfigDraft&) {}

std::string shape_of_presets(const Field&) {
  return presets_shape();
}

void read_experiments(const JsonValue& value, const Field&, ConfigDraft& draft) {
  expect_list(value, "experiments, such as [{\"d\": [4, 64], \"keys\": 8}]");
  if (value.items.size() > kMostExperiments) {
    refuse(value, fmt::format("found {} experiments; at most {} are allowed: one experiment may "
                              "have a list of each d, keys, entries and scalings",
                              value.items.size(), kMostExperiments));
  }
  UsedNames names("experiment");
  for (const JsonValue& item : value.items) {
    refuse_misplaced(item, experiment_keys(), config_keys(),
                     " holds for all experiments; move it out of this one, beside \"experiments\"");
    refuse_misplaced(item, experiment_keys(), given_keys(),
                     " is said of given numbers; write it inside \"given\"");
    if (const JsonValue* given = item.find("given")) {
      refuse_misplaced(*given, given_keys(), experiment_keys(),
                       " is a key of the experiment; write it beside \"given\"");
    }
    Experiment experiment = read_experiment(item, draft.experiments.size(), *draft.sampler,
                                            draft.lines, draft.warnings);
    names.add(said_or_whole(item, "name"), experiment.name);
    draft.experiments.push_back(std::move(experiment));
  }
}

std::string write_experiments(const Field&, const Config& config) {
  const std::string indent(4, ' ');
  std::vector<std::string> texts;
  for (const Experiment& experiment : config.experiments) {
    texts.push_back(indent + experiment_text(experiment, indent));
  }
  return fmt::format("[\n{}\n  ]", join(texts, ",\n"));
}

std::string experiments_shape(const Field&) {
  return list_shape(reference_shape("experiment"));
}

const std::vector<ConfigRow>& config_rows() {
  using enum FieldType;
  using enum FieldUse;
  // Each row stays two or three lines.
  // clang-format off
  static const std::vector<ConfigRow> table = {
      {{"$schema", kText, kOptional, "", "Path of the JSON Schema, for editors."},
        {read_schema_path}},
      {{"name", kName, kOptional, "",
        "Name of the run and of its folder in results/; by default the file's without .json."},
        kBothWays<&Config::name>},
      {{"description", kText, kOptional, R"("")", "Free text."}, kBothWays<&Config::description>},
      {{"seed", kInteger, kOptional, "0",
        "Where the random numbers start: the same seed draws the same numbers.",
        {0, static_cast<double>(kLargestSeed)}}, kBothWays<&Config::seed>},
      {{"sampler", kChoice, kOptional, "",
        "How scores are drawn in experiments that do not choose a sampler themselves.", {},
        {"sampler", row_names<sampler_table>}}, kReadOnly<&ConfigDraft::sampler>},
      {{"reference", kChoice, kOptional, R"("auto")",
        "Whether exact values are given beside the estimates where theory has them.", {},
        {"reference", listed_names<kReferenceNames>}}, kBothWays<&Config::reference>},
      {{"presets", kOwn, kOptional, "",
        "Scalings of your own, each under its name, for all experiments of the config."},
        {read_presets, nullptr, shape_of_presets}},
      {{"experiments", kOwn, kRequired, "", "What is drawn and measured."},
        {read_experiments, write_experiments, experiments_shape}},
  };
  // clang-format on
  return table;
}

// The name of the file without its ending, if that is a name.
std::string name_by_source(const JsonValue& document) {
  const std::string& stem = document.place.source->stem;
  if (is_name(stem)) return stem;
  refuse(document,
         fmt::format("the key \"name\" is missing, the run's and its folder's: {}",
                     stem.empty() ? "there is no file here whose name it could have; write it, or "
                                    "--set name=NAME"
                                  : quote(stem) + " is not letters, digits, dots, underscores and "
                                                  "dashes alone"));
}

// Far beyond any config; a data file given by mistake should not fill the memory.
constexpr std::size_t kLargestFile = std::size_t{256} << 20;
// The same for pipes and terminals (/dev/stdin, <(...)), which have no known size and may never
// end.
constexpr std::size_t kLargestPipe = std::size_t{16} << 20;

constexpr const char* kStandardInput = "standard input";

// `file` as messages put it.
std::string config_text(const std::filesystem::path& path, const std::string& file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) {
    throw UserError(file + ": is a folder; expected a config file");
  }
  const bool is_file = std::filesystem::is_regular_file(status);
  if (std::filesystem::exists(status) && !is_file && !std::filesystem::is_fifo(status) &&
      !std::filesystem::is_character_file(status)) {
    throw UserError(file + ": is neither a file nor a pipe; expected a config file");
  }
  const std::size_t largest = is_file ? kLargestFile : kLargestPipe;
  try {
    return read_file(path, largest);
  } catch (const std::system_error& failure) {
    if (failure.code() == std::errc::file_too_large) {
      throw UserError(fmt::format("{}: is larger than {} MiB; not a config", file, largest >> 20));
    }
    throw UserError(fmt::format("{}: cannot be read: {}; {}", file, failure.code().message(),
                                std::filesystem::is_regular_file(file + ".json")
                                    ? fmt::format("did you mean {}.json?", file)
                                    : "expected a config such as configs/try_this.json"));
  }
}

std::vector<std::string_view> config_keys() {
  return names_of(config_rows());
}

LoadedConfig read_config(const JsonValue& document) {
  ConfigDraft draft;
  refuse_misplaced(document, config_keys(), experiment_keys(),
                   " is a key of an experiment; write it inside one of \"experiments\"");
  JsonValue complete = document;
  put_in_presets(complete);
  read_object(complete, config_rows(), draft);
  if (document.find("name") == nullptr) draft.name = name_by_source(document);
  double cells = 0;
  for (const Experiment& experiment : draft.experiments) cells += cell_count(experiment);
  if (cells > kMostCells) {
    refuse(*document.find("experiments"),
           fmt::format("the sweep has {} cells (laws x d x keys); at most {} are allowed",
                       number_text(cells), number_text(kMostCells)));
  }
  return {static_cast<Config&&>(draft), std::move(draft.warnings)};
}

LoadedConfig read_config(std::string_view text, const JsonSource& source,
                         const std::vector<Override>& overrides) {
  JsonValue document = read_json(text, source);
  for (const Override& one : overrides) apply_override(document, one, config_keys());
  LoadedConfig loaded = read_config(document);
  for (std::string& sentence : idle_scalings(loaded.config)) {
    loaded.warnings.push_back(source.name + ": " + std::move(sentence));
  }
  return loaded;
}

}  // namespace

std::string to_json_text(const Config& config) {
  return object_in_lines(member_texts(config_rows(), config), "") + "\n";
}

std::string config_schema() {
  const std::string definitions = object_text({
      member_text("experiment", schema_of(experiment_schema())),
      member_text("entries", schema_of(entries_schema())),
      member_text("block", schema_of(block_schema())),
      member_text("law", schema_of(law_schema())),
      member_text("scaling", schema_of(scaling_schema())),
      member_text("preset", schema_of(preset_names_shape())),
      member_text("range", schema_of(range_schema())),
      member_text("given", schema_of(given_schema())),
      member_text("matrix_file", schema_of(matrix_file_schema())),
      member_text("stop", schema_of(stop_schema())),
  });
  const auto property = [](std::string_view key, const std::string& schema) {
    return schema_of(member_text("properties", object_text({member_text(key, schema)})));
  };
  const auto items = [](const std::string& schema) {
    return schema_of(member_text("items", schema));
  };
  const std::string has_built_in_scalings = property(
      "experiments", items(property("scalings", items(schema_of(built_in_scaling_shape())))));
  return in_lines(object_text({
             R"("$schema": "http://json-schema.org/draft-07/schema#")",
             R"("title": "attnscale config")",
             R"("description": "What attnscale draws, scales, measures and writes.")",
             object_shape(config_rows()),
             R"("if": {"required": ["presets"]})",
             member_text("else", has_built_in_scalings),
             member_text("definitions", definitions),
         })) +
         "\n";
}

LoadedConfig load_config(const std::string& file, const std::vector<Override>& overrides) {
  const bool is_input = file == "-";
  const std::filesystem::path path = is_input ? "/dev/stdin" : file;
  JsonSource source{is_input ? kStandardInput : file};
  // A pipe is in no folder that a path could be relative to, and its name says nothing.
  if (!is_input && std::filesystem::is_regular_file(path)) {
    source.folder = path.parent_path();
    source.stem = path.stem().string();
  }
  return read_config(config_text(path, source.name), source, overrides);
}

LoadedConfig parse_config(std::string_view text, const std::string& source,
                          const std::vector<Override>& overrides,
                          const std::filesystem::path& folder) {
  return read_config(text, {source, folder}, overrides);
}

}  // namespace attnscale
