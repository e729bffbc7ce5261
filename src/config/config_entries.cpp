// The key `entries` of a config: laws by name or as objects, one for both sides or one for each,
// and how keys are aligned with their query.
#include <algorithm>

#include "config/config_reader.h"
#include "config/config_sweeps.h"
#include "config/values.h"

namespace attnscale {
namespace {

/// The bounds that a law's table sets to one of its parameters.
NumberBounds parameter_bounds(const LawParameter& parameter) {
  return {{parameter.above, parameter.at_most, Ends::kLeastExcluded},
          NumberKind::kReal,
          std::string(parameter.help)};
}

/// Reads an object that names a law, of both sides or of one, with the law's own numbers.
ConfigDraft read_law_object(const JsonValue& value, FieldPlace place) {
  // The law comes first: it decides which other keys there are.
  ConfigDraft draft;
  std::vector<std::string_view> parameter_names;
  const ConfigField& law_field = *find_field(place, "law");
  const JsonValue* law = value.find("law");
  if (law != nullptr) {
    law_field.land(*law, law_field, draft);
    for (const LawParameter& row : draft.law.row->parameters) parameter_names.push_back(row.name);
  }
  read_object(value, place, draft, parameter_names);

  for (const LawParameter& row : draft.law.row->parameters) {
    const JsonValue* parameter = value.find(row.name);
    if (parameter == nullptr) {
      refuse(value, "the law " + quote(draft.law.row->name) + " needs the key " + quote(row.name) +
                        ": " + std::string(row.help));
    }
    draft.law.parameters.push_back(read_axis(*parameter, parameter_bounds(row)));
  }
  return draft;
}

/// A law that needs no number, by its name.
const LawRow* read_law_name(const JsonValue& value, const ConfigField& field) {
  const LawRow* row = find_law(read_choice(value, field));
  if (row->parameters.empty()) return row;
  std::string numbers;
  for (const LawParameter& parameter : row->parameters) {
    numbers += ", " + quote(parameter.name) + ": ...";
  }
  refuse(value, "the law " + quote(row->name) +
                    " needs a number; write {\"law\": " + quote(row->name) + numbers + "}");
}

NumberAxis fixed(double number) {
  return {{number}, false};
}

/// Both sides of an entries object: one law, or one of `queries` and one of `keys`.
std::pair<LawDraft, LawDraft> laws_of(const JsonValue& value, const ConfigDraft& read) {
  const EntriesDraft& entries = read.entries;
  if (!entries.queries && !entries.keys) return {read.law, read.law};
  for (const std::string_view side : {"queries", "keys"}) {
    if (value.find(side) == nullptr) {
      refuse(value, "the key " + quote(side) +
                        " is missing: where one side has a law of its own, say both, such as "
                        "{\"queries\": \"rademacher\", \"keys\": \"normal\"}");
    }
  }
  for (const std::string_view key : {"law", "mean", "sd"}) {
    const JsonValue* said = value.find(key);
    if (said != nullptr) {
      refuse(*said, quote(key) +
                        " does not go with \"queries\" and \"keys\", which have laws of their "
                        "own; write it inside them");
    }
  }
  return {*entries.queries, *entries.keys};
}

void add_axes(const LawDraft& law, std::vector<const NumberAxis*>& axes) {
  axes.push_back(&law.mean);
  axes.push_back(&law.sd);
  for (const NumberAxis& axis : law.parameters) axes.push_back(&axis);
}

/// The law with the numbers at `next`, in the order of add_axes; moves `next` behind them.
Law take_law(const LawDraft& draft, std::vector<double>::const_iterator& next) {
  Law law{draft.row, {}, next[0], next[1]};
  next += 2;
  const auto parameters = std::ssize(draft.parameters);
  law.parameters.assign(next, next + parameters);
  next += parameters;
  return law;
}

void read_entries_object(const JsonValue& value, std::vector<Entries>& all) {
  const ConfigDraft read = read_law_object(value, FieldPlace::kInEntries);
  const auto laws = laws_of(value, read);
  const LawDraft& queries = laws.first;
  const LawDraft& keys = laws.second;
  const bool one_law = !read.entries.queries;
  std::string name(queries.row->name);
  if (!one_law) name.append("_").append(keys.row->name);
  name = read.entries.name.value_or(name);
  refuse_repeated_name(value, all, name, "law");

  // Alignment, aligned keys, then the laws' numbers; one of all may be swept.
  const bool counts_aligned = !read.entries.aligned_keys.values.empty();
  const NumberAxis aligned_keys = counts_aligned ? read.entries.aligned_keys : fixed(0);
  std::vector<const NumberAxis*> axes = {&read.entries.alignment, &aligned_keys};
  add_axes(queries, axes);
  if (!one_law) add_axes(keys, axes);
  for_each_value(value, axes, [&](const std::vector<double>& numbers, std::optional<double> swept) {
    auto next = numbers.begin() + 2;
    Entries entries{name, swept, take_law(queries, next), {}, numbers[0], std::nullopt};
    entries.keys = one_law ? entries.queries : take_law(keys, next);
    if (counts_aligned) entries.aligned_keys = static_cast<std::int64_t>(numbers[1]);
    all.push_back(std::move(entries));
  });
}

void read_entries(const JsonValue& value, const ConfigField& field, std::vector<Entries>& entries) {
  if (value.kind == JsonKind::kObject) return read_entries_object(value, entries);
  const Law law{read_law_name(value, field), {}, 0, 1};
  const std::string name(law.row->name);
  refuse_repeated_name(value, entries, name, "law");
  entries.push_back({name, std::nullopt, law, law, 0, std::nullopt});
}

}  // namespace

void land_entries(const JsonValue& value, const ConfigField& field, ConfigDraft& draft) {
  std::vector<Entries>& entries = draft.experiment.entries;
  if (value.kind != JsonKind::kArray) return read_entries(value, field, entries);
  expect_list(value, "laws, such as [\"normal\"]");
  for (const JsonValue& item : value.items) read_entries(item, field, entries);
}

void land_law(const JsonValue& value, const ConfigField& field, ConfigDraft& draft) {
  auto& side = field.name == "queries" ? draft.entries.queries : draft.entries.keys;
  if (value.kind == JsonKind::kObject) {
    side = read_law_object(value, FieldPlace::kInLaw).law;
  } else {
    side = LawDraft{read_law_name(value, field), fixed(0), fixed(1), {}};
  }
}

}  // namespace attnscale
