#include "config/overrides.h"

#include <fmt/core.h>

#include <algorithm>

#include "config/experiment_object.h"
#include "config/nearest_name.h"
#include "io/json_text.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

constexpr std::size_t kLongestOption = 300;  // that a message shows

// Its relative paths begin at the working directory.
JsonSource source_of(const Override& override) {
  if (!override.option.empty()) return {override.option};
  return {shortened(fmt::format("--set {}={}", override.path, override.value), kLongestOption)};
}

bool has_key(const std::vector<std::string_view>& keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

[[noreturn]] void refuse_path(const Override& override, const std::string& message) {
  throw UserError(source_of(override).name + ": " + message);
}

// The override's value as a text, whatever it holds but bytes that are no text.
JsonValue text_of(const Override& override) {
  try {
    return read_json(quote(override.value), source_of(override));
  } catch (const JsonSyntaxError&) {
    refuse_path(override, "it is not valid UTF-8; write it in UTF-8");
  }
}

// The override's value as if it stood in the document: JSON, or else a text.
JsonValue value_of(const Override& override) {
  JsonValue value;
  try {
    value = read_json(override.value, source_of(override));
  } catch (const JsonSyntaxError&) {
    value = text_of(override);
  }
  value.place = {std::make_shared<const JsonSource>(source_of(override)), 0, 0};
  return value;
}

void set_member(JsonValue& object, const std::string& name, const JsonValue& value) {
  JsonValue* member = object.find(name);
  if (member == nullptr) {
    member = &object.members.emplace_back(JsonMember{name, value.place, {}}).value;
  }
  *member = value;
  move_to(*member, value.place, child_pointer(object.pointer, name));
}

// "~1" is "/" and "~0" is "~" (RFC 6901).
std::string unescape(std::string_view token) {
  std::string name;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape = token[i] == '~' && i + 1 < token.size();
    if (escape && (token[i + 1] == '0' || token[i + 1] == '1')) {
      name += token[++i] == '0' ? '~' : '/';
    } else {
      name += token[i];
    }
  }
  return name;
}

// The item of a list that a pointer's token counts to, or nullptr.
JsonValue* find_item(JsonValue& list, const std::string& token) {
  const std::optional<std::size_t> index = parse_number<std::size_t>(token);
  const bool has_leading_zero = token.size() > 1 && token[0] == '0';
  return index && !has_leading_zero && *index < list.items.size() ? &list.items[*index] : nullptr;
}

// What `token` of a pointer leads to within `parent`.
JsonValue& child_of(JsonValue& parent, std::string_view token, const Override& override) {
  const bool is_list = parent.kind == JsonKind::kArray;
  const std::string name = unescape(token);
  if (!is_list && parent.kind != JsonKind::kObject) {
    refuse_path(override, fmt::format("{0} is {1}, which has no {2}; set the whole of {0} to an "
                                      "object that has it",
                                      parent.pointer, describe(parent), quote(name)));
  }
  JsonValue* child = is_list ? find_item(parent, name) : parent.find(name);
  if (child != nullptr) return *child;
  const std::string reason =
      is_list ? fmt::format("items are counted from 0, and the list has {}", parent.items.size())
              : "a path may add a key, but not the object or list that holds it";
  refuse_path(override,
              fmt::format("there is nothing at {}/{}; {}", parent.pointer, token, reason));
}

void set_at_pointer(JsonValue& document, const Override& override, const JsonValue& value) {
  JsonValue* parent = &document;
  std::string_view rest = std::string_view(override.path).substr(1);
  while (rest.find('/') != std::string_view::npos) {
    const std::size_t slash = rest.find('/');
    parent = &child_of(*parent, rest.substr(0, slash), override);
    rest.remove_prefix(slash + 1);
  }
  if (parent->kind == JsonKind::kObject) return set_member(*parent, unescape(rest), value);
  JsonValue& item = child_of(*parent, rest, override);
  const std::string pointer = item.pointer;
  item = value;
  move_to(item, value.place, pointer);
}

// The experiments; none if the document has no list of them.
std::vector<JsonValue>& experiments_of(JsonValue& document) {
  JsonValue* list = document.find("experiments");
  return (list != nullptr ? *list : document).items;
}

// Sets the key in the experiment called `name`; false if there is none of that name.
bool set_in_experiment(JsonValue& document, std::string_view name, const std::string& key,
                       const JsonValue& value) {
  std::size_t index = 0;
  for (JsonValue& experiment : experiments_of(document)) {
    const bool is_it = experiment_name(experiment, index++) == name;
    if (!is_it || experiment.kind != JsonKind::kObject) continue;
    set_member(experiment, key, value);
    return true;
  }
  return false;
}

void set_in_drawn_experiments(JsonValue& document, const Override& override,
                              const JsonValue& value) {
  bool any = false;
  std::string first_given;
  std::size_t index = 0;
  for (JsonValue& experiment : experiments_of(document)) {
    const std::string name = experiment_name(experiment, index++);
    if (first_given.empty() && experiment.find("given") != nullptr) first_given = name;
    if (experiment.kind != JsonKind::kObject || experiment.find("given") != nullptr) continue;
    set_member(experiment, override.path, value);
    any = true;
  }
  if (!any) {
    refuse_path(override,
                fmt::format("no experiment is drawn; use {}.{}",
                            first_given.empty() ? "EXPERIMENT" : first_given, override.path));
  }
}

void set_at_top(JsonValue& document, const Override& override, const JsonValue& value) {
  set_member(document, override.path, value);
  if (override.path != "sampler") return;
  // A sampler asked for at the command line is not silently overruled by an experiment's own.
  for (JsonValue& experiment : experiments_of(document)) {
    if (experiment.find("sampler") != nullptr) set_member(experiment, "sampler", value);
  }
}

[[noreturn]] void refuse_unknown_path(JsonValue& document, const Override& override,
                                      std::vector<std::string_view> keys) {
  const std::size_t dot = override.path.rfind('.');
  const std::string first = override.path.substr(0, override.path.find('.'));
  if (dot != std::string::npos && has_key(experiment_keys(), first)) {
    const std::vector<JsonValue>& experiments = experiments_of(document);
    const auto holds_it = [&](const JsonValue& value) { return value.find(first) != nullptr; };
    const auto holder = std::ranges::find_if(experiments, holds_it);
    std::string pointer = override.path;
    std::ranges::replace(pointer, '.', '/');
    refuse_path(
        override,
        fmt::format("a key within {} is set by a JSON Pointer: write /experiments/{}/{}={}",
                    quote(first), holder == experiments.end() ? 0 : holder - experiments.begin(),
                    pointer, override.value));
  }
  if (dot != std::string::npos) {
    std::vector<std::string> names;
    for (const JsonValue& experiment : experiments_of(document)) {
      names.push_back(experiment_name(experiment, names.size()));
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    refuse_path(override, unknown_name("experiment", override.path.substr(0, dot), views));
  }
  for (const std::string_view key : experiment_keys()) {
    if (!has_key(keys, key)) keys.push_back(key);
  }
  constexpr std::string_view kLaw[] = {"law", "laws"};
  if (nearest_name(override.path, kLaw)) {
    refuse_path(override, fmt::format("unknown key {}; did you mean entries={}?",
                                      quote(override.path), override.value));
  }
  refuse_path(override, unknown_name("key", override.path, keys) +
                            ", EXPERIMENT.key, or a JSON Pointer such as /experiments/0/d");
}

}  // namespace

Override parse_override(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw UserError(
        fmt::format("--set {}: expected PATH=VALUE, such as queries=1000000 or "
                    "/experiments/0/d=[4,64]",
                    shortened(text, kLongestOption)));
  }
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

void apply_override(JsonValue& document, const Override& override,
                    const std::vector<std::string_view>& top_keys) {
  if (document.kind != JsonKind::kObject) return;  // the reader says so
  const JsonValue value = value_of(override);
  const std::string& path = override.path;
  if (path.starts_with('/')) return set_at_pointer(document, override, value);
  if (has_key(top_keys, path)) return set_at_top(document, override, value);
  const std::size_t dot = path.rfind('.');
  if (dot != std::string::npos &&
      set_in_experiment(document, path.substr(0, dot), path.substr(dot + 1), value)) {
    return;
  }
  if (has_key(experiment_keys(), path)) {
    return set_in_drawn_experiments(document, override, value);
  }
  refuse_unknown_path(document, override, top_keys);
}

}  // namespace attnscale
