#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "config/axis.h"
#include "config/experiment_object.h"
#include "experiment/scaling_table.h"

namespace attnscale {
namespace {

// A number that the object says, and the change that it is.
struct SaidNumber {
  std::optional<double> ScalingChanges::*change;
  NumberAxis axis;
};

// A scaling in the making; the changes hold all that is not a number.
struct ScalingDraft : ScalingChanges {
  std::optional<std::string> name;
  const ScalingRow* like = nullptr;  // where it starts from; the score itself by default
  std::vector<SaidNumber> numbers;
};

// A scaling, or a sweep of one, as it is written.
using ScalingText = SweptNumbers<Scaling>;
using ScalingAccess = Access<ScalingDraft, ScalingText>;

// Numbers and words.

template <std::optional<double> ScalingChanges::*change>
void read_change(const JsonValue& value, const Field& field, ScalingDraft& draft) {
  draft.numbers.push_back({change, read_axis(value, field)});
}
template <std::optional<double> ScalingChanges::*change>
std::string write_change(const Field&, ScalingText& text) {
  if (!(text.first().changes.*change)) return "";
  return text.text([](const Scaling& one) { return *(one.changes.*change); });
}
template <std::optional<double> ScalingChanges::*change>
constexpr ScalingAccess kNumberOf = {read_change<change>, write_change<change>};

template <auto word>
std::string write_word(const Field& field, ScalingText& text) {
  return json_text(field, text.first().changes.*word);
}
template <auto word>
constexpr ScalingAccess kWord = {read_member<word, ScalingDraft>, write_word<word>};

void read_max_shift(const JsonValue& value, const Field&, ScalingDraft& draft) {
  draft.max_shift = read_boolean(value) ? MaxShift::kSubtracted : MaxShift::kNone;
}
std::string write_max_shift(const Field& field, ScalingText& text) {
  const std::optional<MaxShift>& shift = text.first().changes.max_shift;
  return shift ? json_text(field, *shift == MaxShift::kSubtracted) : "";
}

// The gain: one number for queries and keys, two numbers, or a sweep.

void read_gain(const JsonValue& value, const Field& field, ScalingDraft& draft) {
  const bool is_list = value.kind == JsonKind::kArray && !value.items.empty();
  if (is_list && value.items.front().kind != JsonKind::kArray) {
    if (value.items.size() != 2) {
      refuse_found(value,
                   "one number for queries and keys, two numbers [for queries, for keys], a range, "
                   "or several such as [[0.25], [0.5], [1]]");
    }
    const double query_gain = read_number(value.items[0], field);
    const double key_gain = read_number(value.items[1], field);
    draft.numbers.push_back({&ScalingChanges::gain, {{query_gain}, false}});
    draft.numbers.push_back({&ScalingChanges::key_gain, {{key_gain}, false}});
    return;
  }
  // Two numbers are one gain of each side, so each value of a sweep is in a list of its own.
  JsonValue gains = value;
  for (JsonValue& item : gains.items) {
    if (item.kind != JsonKind::kArray || item.items.size() != 1) {
      refuse_found(item, "[gain], as in [[0.25], [0.5], [1]]");
    }
    item = JsonValue(item.items.front());
  }
  draft.numbers.push_back({&ScalingChanges::gain, read_axis(gains, field)});
}

std::string write_gain(const Field&, ScalingText& text) {
  const ScalingChanges& first = text.first().changes;
  if (!first.gain) return "";
  if (first.key_gain) return numbers_text({*first.gain, *first.key_gain});
  const auto values = text.swept_values([](const Scaling& one) { return *one.changes.gain; });
  if (values.empty()) return number_text(*first.gain);
  std::vector<std::string> lists;
  lists.reserve(values.size());
  for (const double value : values) lists.push_back(numbers_text({value}));
  return list_text(lists);
}

std::string gain_shape(const Field& field) {
  const std::string one = number_shape("number", field.bounds);
  const std::string pair =
      R"("type": "array", "items": )" + schema_of(one) + R"(, "minItems": 2, "maxItems": 2)";
  return any_of({schema_of(one), schema_of(pair), reference_to("range"),
                 schema_of(distinct_list_shape(list_shape(one) + R"(, "maxItems": 1)"))});
}

// The normaliser: softmax by its name alone, the others with their number.

void read_normaliser(const JsonValue& value, const Field& field, ScalingDraft& draft) {
  if (value.kind == JsonKind::kString && value.text == kNormaliserNames[0]) {
    draft.normaliser = NormaliserKind::kSoftmax;
    return;
  }
  if (value.kind == JsonKind::kObject && value.members.size() == 1) {
    const JsonMember& member = value.members.front();
    const auto name = std::find(kNormaliserNames.begin() + 1, kNormaliserNames.end(), member.name);
    if (name != kNormaliserNames.end()) {
      draft.normaliser = static_cast<NormaliserKind>(name - kNormaliserNames.begin());
      const NumberAxis bias = read_axis(member.value, field);
      draft.numbers.push_back({&ScalingChanges::bias, bias});
      return;
    }
  }
  refuse_found(value,
               "\"softmax\", {\"sink\": its logit}, such as {\"sink\": 0}, or "
               "{\"sigmoid\": what is added to each logit}, such as {\"sigmoid\": -2}");
}

std::string write_normaliser(const Field& field, ScalingText& text) {
  const std::optional<NormaliserKind>& kind = text.first().changes.normaliser;
  if (!kind) return "";
  const std::string_view name = name_in(kNormaliserNames, *kind);
  if (*kind == NormaliserKind::kSoftmax) return quote(name);
  return object_text({member_text(name, write_change<&ScalingChanges::bias>(field, text))});
}

std::string normaliser_shape(const Field& field) {
  std::vector<std::string> kinds = {schema_of(member_text("const", quote(kNormaliserNames[0])))};
  for (auto name = kNormaliserNames.begin() + 1; name != kNormaliserNames.end(); ++name) {
    const std::string number = schema_of(axis_shape("number", field.bounds));
    kinds.push_back(schema_of(
        fmt::format(R"("type": "object", {}, "additionalProperties": false, "properties": {})",
                    required_shape({*name}), object_text({member_text(*name, number)}))));
  }
  return any_of(kinds);
}

std::string name_shape(const Field& field) {
  return shape_of(field) + R"(, "not": )" + schema_of(names_shape(row_names<scaling_table>()));
}

// Where a scaling starts. Refuses a text that names what is known but is no scaling of scores.

const ScalingRow* read_known_scaling(const JsonValue& value, const Field& field) {
  // As papers write them: "QK-clip".
  std::string name = value.text;
  std::ranges::transform(name, name.begin(), [](char c) {
    return c == '-' || c == ' ' ? '_'
                                : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  const RefusedScaling* refused = find_refused_scaling(name);
  if (refused != nullptr) refuse(value, fmt::format("{} {}", quote(value.text), refused->reason));
  return find_scaling_row(read_choice(value, field));
}

void read_start(const JsonValue& value, const Field& field, ScalingDraft& draft) {
  draft.like = read_known_scaling(value, field);
}

const std::vector<Row<ScalingDraft, ScalingText>>& rows() {
  using enum FieldType;
  using enum FieldUse;
  constexpr double kLargest = 1e9;
  constexpr double kLargestBias = 1e6;
  constexpr double kLargestSize = 1e15;
  // Each row stays two to four lines.
  // clang-format off
  static const std::vector<Row<ScalingDraft, ScalingText>> table = {
      {{"name", kName, kOptional, "",
        "Name in the column scaling; not needed if like or preset is taken as it is."},
        {read_member<&ScalingDraft::name>, nullptr, name_shape}},
      {{"like", kChoice, kOptional, "",
        "The named scaling to start from; by default the score itself.", {},
        {"scaling", row_names<scaling_table>}}, {read_start}},
      {{"preset", kChoice, kOptional, "", "The same as like, for scalings of models and papers.",
        {}, {"preset", row_names<scaling_table>}}, {read_start}},
      {{"multiplier", kNumberAxis, kOptional, "", "Multiplies the logit.", {-kLargest, kLargest}},
        kNumberOf<&ScalingChanges::multiplier>},
      {{"d_power", kNumberAxis, kOptional, "",
        "Multiplies the logit by this power of d: -0.5 divides by sqrt(d).", {-8, 8}},
        kNumberOf<&ScalingChanges::d_power>},
      {{"d", kIntegerAxis, kOptional, "", "The d of that power, in place of the cell's.",
        {1, kLargestSize}}, kNumberOf<&ScalingChanges::d>},
      {{"log_keys", kBoolean, kOptional, "",
        "Multiplies the logit by the logarithm of the number of keys."},
        kWord<&ScalingChanges::log_keys>},
      {{"log_keys_base", kNumberAxis, kOptional, "", "Base of that logarithm; e by default.",
        {1, kLargestSize, Ends::kLeastExcluded}}, kNumberOf<&ScalingChanges::log_keys_base>},
      {{"softcap", kNumberAxis, kOptional, "",
        "Bends the logit x to softcap tanh(x / softcap), after all factors.",
        {0, kLargest, Ends::kLeastExcluded, "leave softcap out for no cap"}},
        kNumberOf<&ScalingChanges::softcap>},
      {{"norm", kChoice, kOptional, "",
        "Acts on queries and keys before the product: rms divides by the root of the mean square, "
        "cosine by the length.", {}, {"norm", listed_names<kNormNames>}},
        kWord<&ScalingChanges::norm>},
      {{"gain", kOwn, kOptional, "",
        "Multiplies queries and keys after their norm: one number for both, or [for queries, for "
        "keys]; a list of several is [[a], [b]].",
        {0, kLargest, Ends::kLeastExcluded,
         "for logits of the other sign write a negative multiplier"}},
        {read_gain, write_gain, gain_shape}},
      {{"normaliser", kOwn, kOptional, "",
        "What turns logits into weights: softmax, softmax with a sink of this logit, or the "
        "sigmoid of logit plus this number.", {-kLargestBias, kLargestBias}},
        {read_normaliser, write_normaliser, normaliser_shape}},
      {{"precision", kChoice, kOptional, "",
        "Rounds every step from the score to the weight to this precision; float64 by default.", {},
        {"precision", listed_names<kPrecisionNames>}}, kWord<&ScalingChanges::precision>},
      {{"scale_order", kChoice, kOptional, "",
        "Whether the factor acts before the product of query and key or after it (the default), "
        "where the score itself must be a number of that precision.", {},
        {"order", listed_names<kScaleOrderNames>}}, kWord<&ScalingChanges::scale_order>},
      {{"subtract_max", kBoolean, kOptional, "",
        "Whether the largest logit is subtracted before exponentials are taken; true by default."},
        {read_max_shift, write_max_shift}},
  };
  // clang-format on
  return table;
}

std::string name_of(const ScalingRow* row) {
  return row != nullptr ? "the scaling " + quote(row->name) : "the score itself";
}

// What the object is like, which decides which other keys there are; nullptr for the score itself.
const ScalingRow* start_of(const JsonValue& value) {
  ScalingDraft draft;
  for (const std::string_view key : {"like", "preset"}) {
    const JsonValue* said = value.find(key);
    if (said == nullptr) continue;
    if (draft.like != nullptr) {
      refuse(*said, "found both \"like\" and \"preset\"; expected one of them");
    }
    read_start(*said, field_named(rows(), key), draft);
  }
  return draft.like;
}

std::string name_of_scaling(const JsonValue& value, const ScalingDraft& read) {
  if (read.name) {
    if (find_scaling_row(*read.name) == nullptr) return *read.name;
    refuse(*value.find("name"), fmt::format("{0} is the name of a built-in scaling; choose "
                                            "another name, or write {{\"like\": {0}}}",
                                            quote(*read.name)));
  }
  if (read.like == nullptr) refuse(value, "a new scaling needs a \"name\"");
  if (value.members.size() == 1 + read.like->parameters.size()) return std::string(read.like->name);
  refuse(value, fmt::format("a change of {0} needs a \"name\" of its own; write {{\"name\": "
                            "\"my_{1}\", \"like\": {0}, ...}}",
                            quote(read.like->name), read.like->name));
}

// The number that a scaling comes to together with the one it is like.
void expect_within(const JsonValue& value, std::string_view key, double number) {
  const Field& field = field_named(rows(), key);
  if (number >= field.bounds.least && number <= field.bounds.most) return;
  refuse(value, fmt::format("with the scaling it starts from, the {} is {}; expected {}", key,
                            number_text(number), describe_bounds(field)));
}

// Keys that have an effect only beside others.
void expect_no_idle_key(const JsonValue& value, const ScalingRule& rule) {
  const JsonValue* base = value.find("log_keys_base");
  if (base != nullptr && !rule.log_keys) {
    refuse(*base, "\"log_keys_base\" has no effect without \"log_keys\": true; add it");
  }
  const JsonValue* d = value.find("d");
  if (d != nullptr && rule.d_power == 0) {
    refuse(*d, "\"d\" has no effect without a power of it; add \"d_power\", such as -0.5");
  }
  const JsonValue* shift = value.find("subtract_max");
  if (shift != nullptr && rule.weights.normaliser.kind == NormaliserKind::kSigmoid) {
    refuse(*shift,
           "\"subtract_max\" has no effect on a sigmoid, which subtracts nothing; leave it out");
  }
  if (rule.weights.precision != Precision::kFloat64) return;
  for (const std::string_view key : {"scale_order", "subtract_max"}) {
    const JsonValue* said = value.find(key);
    if (said == nullptr) continue;
    refuse(*said, fmt::format("{} is for emulated precisions only; add a \"precision\", such as "
                              "\"float16\", or leave it out",
                              quote(key)));
  }
}

void read_object_into(const JsonValue& value, std::vector<Scaling>& scalings) {
  ScalingDraft draft;
  const ScalingRow* const like = start_of(value);
  const std::vector<Field> needed = parameters_of(like);
  read_object(value, rows(), draft, names_of(needed));
  std::vector<NumberAxis> axes = read_parameters(value, name_of(like), needed);
  const auto parameters = std::ssize(axes);
  const std::string name = name_of_scaling(value, draft);
  refuse_repeated_name(value, scalings, name, "scaling");
  for (const SaidNumber& number : draft.numbers) axes.push_back(number.axis);
  for (const SweepPoint& point : sweep_points(value, axes)) {
    auto next = point.numbers.begin() + parameters;
    ScalingChanges changes = draft;
    for (const SaidNumber& number : draft.numbers) changes.*number.change = *next++;
    const Scaling& scaling = scalings.emplace_back(
        make_scaling(name, like, {point.numbers.begin(), point.numbers.begin() + parameters},
                     changes, point.swept));
    expect_within(value, "multiplier", scaling.rule.multiplier);
    expect_within(value, "d_power", scaling.rule.d_power);
    expect_no_idle_key(value, scaling.rule);
  }
}

// A scaling that needs no number, by its name.
void read_name_into(const JsonValue& value, const Field& field, std::vector<Scaling>& scalings) {
  const ScalingRow& row = *read_known_scaling(value, field);
  expect_no_parameters(value, name_of(&row), "preset", parameters_of(&row));
  refuse_repeated_name(value, scalings, std::string(row.name), "scaling");
  scalings.push_back(*find_scaling(row.name));
}

std::string scaling_text(ScalingText& text) {
  const Scaling& first = text.first();
  if (find_scaling(first.name) == first) return quote(first.name);
  std::vector<std::string> members;
  const bool has_own_name = first.like == nullptr || first.like->name != first.name;
  if (has_own_name) members.push_back(member_text("name", quote(first.name)));
  if (first.like != nullptr) members.push_back(member_text("like", quote(first.like->name)));
  for (std::size_t i = 0; i < first.parameters.size(); ++i) {
    const auto number = [i](const Scaling& one) { return one.parameters[i]; };
    members.push_back(member_text(first.like->parameters[i].name, text.text(number)));
  }
  // Numbers, then words.
  for (const bool is_word : {false, true}) {
    for (const auto& row : rows()) {
      const FieldType type = row.field.type;
      const bool has_words = type == FieldType::kChoice || type == FieldType::kBoolean;
      if (has_words == is_word) add_member(row, text, members);
    }
  }
  return object_text(members);
}

// A start with the numbers it needs; a name of its own unless the start is taken as it is.
std::string start_schema(const std::string& names, const std::vector<Field>& parameters) {
  const std::string either = any_of({R"({"required": ["like"]})", R"({"required": ["preset"]})"});
  std::vector<std::string> properties;
  for (const std::string_view key : names_of(rows())) {
    const bool is_start = key == "like" || key == "preset";
    properties.push_back(member_text(key, is_start ? schema_of(names) : "true"));
  }
  for (const Field& field : parameters) properties.push_back(property_text(field, shape_of(field)));
  std::string start =
      member_text("properties", object_text(properties)) + R"(, "additionalProperties": false)";
  if (!parameters.empty()) start += ", " + required_shape(names_of(parameters)) + ", " + either;
  const std::string as_it_is =
      fmt::format(R"("maxProperties": {}, {})", 1 + parameters.size(), either);
  const std::string named = any_of({R"({"required": ["name"]})", schema_of(as_it_is)});
  return schema_of(member_text("allOf", list_text({schema_of(start), schema_of(named)})));
}

}  // namespace

void read_into(const JsonValue& value, const Field& field, std::vector<Scaling>& scalings) {
  expect_list(value, "scalings, such as [\"none\", \"div_sqrt_d\"]");
  for (const JsonValue& item : value.items) {
    if (item.kind == JsonKind::kObject) {
      read_object_into(item, scalings);
    } else {
      read_name_into(item, field, scalings);
    }
  }
}

std::string json_text(const Field&, const std::vector<Scaling>& scalings) {
  return swept_list_text(scalings, scaling_text);
}

std::string scalings_shape(const Field&) {
  return distinct_list_shape(
      any_of({schema_of(plain_names_shape(scaling_table())), reference_to("scaling")}));
}

std::string scaling_schema() {
  std::vector<std::string> starts = {start_schema(plain_names_shape(scaling_table()), {})};
  for (const ScalingRow& row : scaling_table()) {
    if (row.parameters.empty()) continue;
    starts.push_back(start_schema(member_text("const", quote(row.name)), parameters_of(&row)));
  }
  return object_shape(rows(), OtherKeys::kLeftToAlternatives) + ", " + any_of(starts) +
         R"(, "not": {"required": ["like", "preset"]})";
}

}  // namespace attnscale
