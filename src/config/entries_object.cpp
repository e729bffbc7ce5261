#include "config/entries_object.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "config/axis.h"
#include "config/object.h"
#include "config/schema.h"
#include "config/values.h"
#include "draw/entry_moments.h"

namespace attnscale {
namespace {

// A law of one side or both, in the making.
struct LawDraft {
  const LawRow* row = nullptr;
  NumberAxis mean;
  NumberAxis sd;
  NumberAxis clip = {{std::numeric_limits<double>::infinity()}};
  std::vector<NumberAxis> parameters;
};

// An entries object in the making; the law is of both sides, unless each has one of its own.
struct EntriesDraft : LawDraft {
  std::optional<std::string> name;
  std::optional<LawDraft> queries;
  std::optional<LawDraft> keys;
  NumberAxis alignment;
  NumberAxis aligned_keys;  // empty if it is not given
};

// The keys of a law, which have the parameters of the law beside them; each stays two lines.
// clang-format off
constexpr double kLargestEntry = 1e6;
constexpr double kLeastSd = 1e-70;  // squares of products of two entries are numbers too
constexpr FieldChoices kLaws = {"law", row_names<law_table>};
constexpr Field kLaw = {"law", FieldType::kChoice, FieldUse::kOptional, R"("normal")",
                        "Name of the law.", {}, kLaws};
constexpr Field kMean = {"mean", FieldType::kNumberAxis, FieldUse::kOptional, "0",
                         "Mean of an entry.", {-kLargestEntry, kLargestEntry}};
constexpr Field kSd = {"sd", FieldType::kNumberAxis, FieldUse::kOptional, "1",
                       "Spread of an entry.", {kLeastSd, kLargestEntry}};
constexpr Field kClip = {"clip", FieldType::kNumberAxis, FieldUse::kOptional, "",
                         "Entries beyond this or minus this become it.", {kLeastSd, kLargestEntry}};
// clang-format on

const std::vector<Row<LawDraft>>& law_rows() {
  static const std::vector<Row<LawDraft>> table = {
      {kLaw, kReadOnly<&LawDraft::row>},
      {kMean, kReadOnly<&LawDraft::mean>},
      {kSd, kReadOnly<&LawDraft::sd>},
      {kClip, kReadOnly<&LawDraft::clip>},
  };
  return table;
}

std::string name_of(const LawRow* row) {
  return "the law " + quote(row->name);
}

// Reads an object that names a law, of both sides or of one, with the law's own numbers.
template <typename Draft>
Draft read_law_object(const JsonValue& value, const std::vector<Row<Draft>>& rows) {
  // The law comes first: it decides which other keys there are.
  Draft draft;
  const JsonValue* law = value.find("law");
  if (law != nullptr) read_into(*law, kLaw, draft.row);
  const std::vector<Field> parameters = parameters_of(draft.row);
  read_object(value, rows, draft, names_of(parameters));
  draft.parameters = read_parameters(value, name_of(draft.row), parameters);
  return draft;
}

// A law that needs no number, by its name.
const LawRow* read_law_name(const JsonValue& value, const Field& field) {
  const LawRow* row = find_law(read_choice(value, field));
  expect_no_parameters(value, name_of(row), "law", parameters_of(row));
  return row;
}

NumberAxis fixed(double number) {
  return {{number}, false};
}

// The law of one side.
template <std::optional<LawDraft> EntriesDraft::*side>
void read_side(const JsonValue& value, const Field& field, EntriesDraft& draft) {
  const bool is_object = value.kind == JsonKind::kObject;
  draft.*side = is_object ? read_law_object(value, law_rows())
                          : LawDraft{read_law_name(value, field),
                                     fixed(0),
                                     fixed(1),
                                     fixed(std::numeric_limits<double>::infinity()),
                                     {}};
}

// Laws by name alone: those without parameters.
std::string law_names_schema() {
  return schema_of(plain_names_shape(law_table()));
}

std::string side_shape(const Field&) {
  return any_of({law_names_schema(), reference_to("law")});
}

const std::vector<Row<EntriesDraft>>& rows() {
  using enum FieldType;
  using enum FieldUse;
  // Each row stays two or three lines.
  // clang-format off
  static const std::vector<Row<EntriesDraft>> table = {
      {kLaw, kReadOnly<&EntriesDraft::row>},
      {{"name", kName, kOptional, "", "Name in the column entries; by default the law's."},
        kReadOnly<&EntriesDraft::name>},
      {kMean, kReadOnly<&EntriesDraft::mean>},
      {kSd, kReadOnly<&EntriesDraft::sd>},
      {kClip, kReadOnly<&EntriesDraft::clip>},
      {{"queries", kOwn, kOptional, "", "Law of the queries' entries, if the keys have another.",
        {}, kLaws}, {read_side<&EntriesDraft::queries>, nullptr, side_shape}},
      {{"keys", kOwn, kOptional, "", "Law of the keys' entries, if the queries have another.", {},
        kLaws}, {read_side<&EntriesDraft::keys>, nullptr, side_shape}},
      {{"alignment", kNumberAxis, kOptional, "0",
        "Correlation of each key entry with the query's: the mean score is d times this, times "
        "both spreads.", {-1, 1}}, kReadOnly<&EntriesDraft::alignment>},
      {{"aligned_keys", kIntegerAxis, kOptional, "",
        "How many of the keys are aligned, the first ones; by default all.",
        limits_of_samplers(&SamplerRow::max_keys)}, kReadOnly<&EntriesDraft::aligned_keys>},
  };
  // clang-format on
  return table;
}

// If one side has a law of its own, so has the other, and there is no law for both.
void check_sides(const JsonValue& value, const EntriesDraft& read) {
  if (!read.queries && !read.keys) return;
  for (const std::string_view side : {"queries", "keys"}) {
    if (value.find(side) != nullptr) continue;
    refuse(value, fmt::format("the key {} is missing: if one side has a law of its own, write "
                              "both, such as {}",
                              quote(side), R"({"queries": "rademacher", "keys": "normal"})"));
  }
  for (const std::string_view key : names_of(law_rows())) {
    const JsonValue* said = value.find(key);
    if (said == nullptr) continue;
    refuse(*said, fmt::format("{} cannot be used with \"queries\" and \"keys\", which have laws of "
                              "their own; write it inside them",
                              quote(key)));
  }
}

void add_axes(const LawDraft& law, std::vector<NumberAxis>& axes) {
  axes.push_back(law.mean);
  axes.push_back(law.sd);
  axes.push_back(law.clip);
  axes.insert(axes.end(), law.parameters.begin(), law.parameters.end());
}

// The law with the numbers at `next`, in the order of add_axes; moves `next` past them.
Law take_law(const LawDraft& draft, std::vector<double>::const_iterator& next) {
  Law law{draft.row, {}, next[0], next[1], next[2]};
  next += 3;
  const auto parameters = std::ssize(draft.parameters);
  law.parameters.assign(next, next + parameters);
  next += parameters;
  return law;
}

// What a clip leaves must vary, and what it takes cannot be shared with a query.
void check_clip(const JsonValue& value, const Entries& entries) {
  for (const Law& law : {entries.queries, entries.keys}) {
    if (!law.is_clipped()) continue;
    if (entries.alignment != 0) {
      refuse(*value.find("alignment"),
             "keys cannot be aligned where entries are clipped; leave out one of \"alignment\" and "
             "\"clip\"");
    }
    constexpr double kLeastLeft = 1e-6;  // of the spread; moments of less would lose their digits
    if (entry_moments(law, 0).sd > kLeastLeft * std::min(law.clip, law.sd)) continue;
    refuse(value, fmt::format("entries of mean {} and sd {} clipped at {} are all but the same; "
                              "write a larger \"clip\"",
                              number_text(law.mean), number_text(law.sd), number_text(law.clip)));
  }
}

std::string name_of(const Law& law) {
  return fmt::format("{}{}", law.is_clipped() ? "clipped_" : "", law.row->name);
}

void read_object_into(const JsonValue& value, std::vector<Entries>& all) {
  const EntriesDraft read = read_law_object(value, rows());
  check_sides(value, read);
  const bool one_law = !read.queries;
  const LawDraft& queries = one_law ? read : *read.queries;
  const LawDraft& keys = one_law ? read : *read.keys;

  // Alignment, aligned keys, then the laws' numbers; one of all may be swept.
  const bool counts_aligned = !read.aligned_keys.values.empty();
  std::vector<NumberAxis> axes = {read.alignment, counts_aligned ? read.aligned_keys : fixed(0)};
  add_axes(queries, axes);
  if (!one_law) add_axes(keys, axes);
  for (const auto& [numbers, swept] : sweep_points(value, axes)) {
    auto next = numbers.begin() + 2;
    Entries entries{{}, swept, take_law(queries, next), {}, numbers[0], std::nullopt};
    entries.keys = one_law ? entries.queries : take_law(keys, next);
    entries.name = name_of(entries.queries);
    if (!one_law) entries.name += "_" + name_of(entries.keys);
    entries.name = read.name.value_or(entries.name);
    if (counts_aligned) entries.aligned_keys = static_cast<std::int64_t>(numbers[1]);
    check_clip(value, entries);
    all.push_back(std::move(entries));
  }
}

void read_one_into(const JsonValue& value, const Field& field, std::vector<Entries>& all) {
  if (value.kind == JsonKind::kObject) return read_object_into(value, all);
  const Law law{read_law_name(value, field), {}, 0, 1};
  const std::string name(law.row->name);
  all.push_back({name, std::nullopt, law, law, 0, std::nullopt});
}

using EntriesText = SweptNumbers<Entries>;

// Adds the law of a side, the name in between where there is one, and the law's numbers.
std::vector<std::string> law_members(Law Entries::*side, EntriesText& text,
                                     const std::string& name = "") {
  const LawRow& row = *(text.first().*side).row;
  std::vector<std::string> members = {member_text("law", quote(row.name))};
  if (!name.empty()) members.push_back(member_text("name", quote(name)));
  const auto add = [&](std::string_view key, const auto& get) {
    members.push_back(
        member_text(key, text.text([&](const Entries& one) { return get(one.*side); })));
  };
  add("mean", [](const Law& law) { return law.mean; });
  add("sd", [](const Law& law) { return law.sd; });
  if ((text.first().*side).is_clipped()) add("clip", [](const Law& law) { return law.clip; });
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    add(row.parameters[i].name, [i](const Law& law) { return law.parameters[i]; });
  }
  return members;
}

std::string one_entries_text(EntriesText& text) {
  const Entries& first = text.first();
  std::vector<std::string> members;
  if (std::ranges::all_of(text.group(),
                          [](const Entries& one) { return one.queries == one.keys; })) {
    members = law_members(&Entries::queries, text, first.name);
  } else {
    members.push_back(member_text("name", quote(first.name)));
    members.push_back(member_text("queries", object_text(law_members(&Entries::queries, text))));
    members.push_back(member_text("keys", object_text(law_members(&Entries::keys, text))));
  }
  const bool aligned = std::ranges::any_of(
      text.group(), [](const Entries& one) { return one.alignment != 0 || one.aligned_keys; });
  if (aligned) {
    members.push_back(
        member_text("alignment", text.text([](const Entries& one) { return one.alignment; })));
  }
  if (first.aligned_keys) {
    const auto count = [](const Entries& one) {
      return static_cast<double>(one.aligned_keys.value_or(0));
    };
    members.push_back(member_text("aligned_keys", text.text(count)));
  }
  return object_text(members);
}

// For each law, what its object may hold: `keys` and the law's parameters.
std::vector<std::string> law_alternatives(const std::vector<std::string_view>& keys) {
  std::vector<std::string> laws;
  for (const LawRow& row : law_table()) {
    std::vector<std::string> properties = {
        member_text("law", schema_of(member_text("const", quote(row.name))))};
    for (const std::string_view key : keys) {
      if (key != "law") properties.push_back(member_text(key, "true"));
    }
    const std::vector<Field> parameters = parameters_of(&row);
    for (const Field& field : parameters) {
      properties.push_back(property_text(field, shape_of(field)));
    }
    std::string shape =
        member_text("properties", object_text(properties)) + R"(, "additionalProperties": false)";
    if (!parameters.empty()) {
      std::vector<std::string_view> required = names_of(parameters);
      required.emplace_back("law");
      shape += ", " + required_shape(required);
    }
    laws.push_back(schema_of(shape));
  }
  return laws;
}

}  // namespace

FieldBounds limits_of_samplers(std::int64_t SamplerRow::*limit) {
  std::int64_t largest = 1;
  for (const SamplerRow& row : sampler_table()) largest = std::max(largest, row.*limit);
  return {1, static_cast<double>(largest)};
}

void read_into(const JsonValue& value, const Field& field, std::vector<Entries>& entries) {
  if (value.kind != JsonKind::kArray) return read_one_into(value, field, entries);
  expect_list(value, "laws, such as [\"normal\"]");
  UsedNames names("law");
  for (const JsonValue& item : value.items) {
    read_one_into(item, field, entries);
    names.add(item, entries.back().name);
  }
}

std::string json_text(const Field&, const std::vector<Entries>& entries) {
  return swept_list_text(entries, one_entries_text);
}

std::string entries_shape(const Field&) {
  const std::string one = any_of({law_names_schema(), reference_to("entries")});
  return any_of({schema_of(one), schema_of(distinct_list_shape(one))});
}

std::string law_schema() {
  return object_shape(law_rows(), OtherKeys::kLeftToAlternatives) + ", " +
         any_of(law_alternatives(names_of(law_rows())));
}

// One law for both sides, or one for each.
std::string entries_schema() {
  const std::vector<std::string_view> of_a_law = names_of(law_rows());
  std::vector<std::string_view> beside_one_law;
  std::vector<std::string> beside_two;
  for (const std::string_view key : names_of(rows())) {
    if (key != "queries" && key != "keys") beside_one_law.push_back(key);
    const bool is_of_a_law = std::ranges::find(of_a_law, key) != of_a_law.end();
    if (!is_of_a_law) beside_two.push_back(member_text(key, "true"));
  }
  std::vector<std::string> alternatives = law_alternatives(beside_one_law);
  alternatives.push_back(schema_of(required_shape({"queries", "keys"}) + ", " +
                                   member_text("properties", object_text(beside_two)) +
                                   R"(, "additionalProperties": false)"));
  return object_shape(rows(), OtherKeys::kLeftToAlternatives) + ", " + any_of(alternatives);
}

}  // namespace attnscale
