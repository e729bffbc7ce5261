#include "config/scaling_keys.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "config/schema.h"
#include "config/values.h"

namespace attnscale {
namespace {

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
void read_word(const JsonValue& value, const Field& field, ScalingDraft& draft) {
  read_into(value, field, draft.words.*word);
}
template <auto word>
std::string write_word(const Field& field, ScalingText& text) {
  return json_text(field, text.first().changes.*word);
}
template <auto word>
constexpr ScalingAccess kWord = {read_word<word>, write_word<word>};

void read_max_shift(const JsonValue& value, const Field&, ScalingDraft& draft) {
  draft.words.max_shift = read_boolean(value) ? MaxShift::kSubtracted : MaxShift::kNone;
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
    draft.words.normaliser = NormaliserKind::kSoftmax;
    return;
  }
  if (value.kind == JsonKind::kObject && value.members.size() == 1) {
    const JsonMember& member = value.members.front();
    const auto name = std::find(kNormaliserNames.begin() + 1, kNormaliserNames.end(), member.name);
    if (name != kNormaliserNames.end()) {
      draft.words.normaliser = static_cast<NormaliserKind>(name - kNormaliserNames.begin());
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

}  // namespace

const std::vector<Row<ScalingDraft, ScalingText>>& scaling_rows() {
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
        "The named scaling to start from; by default the score itself.",
        {}, {"scaling", row_names<scaling_table>}}, {read_start}},
      {{"preset", kChoice, kOptional, "",
        "The same as like, for scalings of models and papers.",
        {}, {"preset", row_names<scaling_table>}}, {read_start}},
      {{"multiplier", kNumberAxis, kOptional, "", "Multiplies the logit.",
        {-kLargest, kLargest}},
       kNumberOf<&ScalingChanges::multiplier>},
      {{"d_power", kNumberAxis, kOptional, "",
        "Multiplies the logit by this power of d: -0.5 divides by sqrt(d).", {-8, 8}},
       kNumberOf<&ScalingChanges::d_power>},
      {{"d", kIntegerAxis, kOptional, "", "The d of that power, in place of the cell's.",
        {1, kLargestSize}}, kNumberOf<&ScalingChanges::d>},
      {{"log_keys", kBoolean, kOptional, "",
        "Multiplies the logit by the logarithm of the number of keys."},
       kWord<&ScalingChanges::log_keys>},
      {{"log_keys_base", kNumberAxis, kOptional, "",
        "Base of that logarithm; e by default.",
        {1, kLargestSize, Ends::kLeastExcluded}}, kNumberOf<&ScalingChanges::log_keys_base>},
      {{"softcap", kNumberAxis, kOptional, "",
        "Bends the logit x to softcap tanh(x / softcap), after all factors.",
        {0, kLargest, Ends::kLeastExcluded, "leave softcap out for no cap"}},
       kNumberOf<&ScalingChanges::softcap>},
      {{"norm", kChoice, kOptional, "",
        "Acts on queries and keys before the product: rms divides by the root of the mean square, "
        "cosine by the length.",
        {}, {"norm", listed_names<kNormNames>}}, kWord<&ScalingChanges::norm>},
      {{"gain", kOwn, kOptional, "",
        "Multiplies queries and keys after their norm: one number for both, or [for queries, for "
        "keys]; a list of several is [[a], [b]].",
        {0, kLargest, Ends::kLeastExcluded,
         "for logits of the other sign write a negative multiplier"}},
       {read_gain, write_gain, gain_shape}},
      {{"normaliser", kOwn, kOptional, "",
        "What turns logits into weights: softmax, softmax with a sink of this logit, or the "
        "sigmoid of logit plus this number.",
        {-kLargestBias, kLargestBias}}, {read_normaliser, write_normaliser, normaliser_shape}},
      {{"precision", kChoice, kOptional, "",
        "Rounds every step from the score to the weight to this precision; float64 by default.",
        {}, {"precision", listed_names<kPrecisionNames>}}, kWord<&ScalingChanges::precision>},
      {{"scale_order", kChoice, kOptional, "",
        "Whether the factor acts before the product of query and key or after it (the default), "
        "where the score itself must be a number of that precision.",
        {}, {"order", listed_names<kScaleOrderNames>}}, kWord<&ScalingChanges::scale_order>},
      {{"subtract_max", kBoolean, kOptional, "",
        "Whether the largest logit is subtracted before exponentials are taken; true by default."},
       {read_max_shift, write_max_shift}},
  };
  // clang-format on
  return table;
}

void refuse_what_is_no_scaling(const JsonValue& value) {
  // As papers write them: "QK-clip".
  std::string name = value.text;
  std::ranges::transform(name, name.begin(), [](char c) {
    return c == '-' || c == ' ' ? '_'
                                : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  const RefusedScaling* refused = find_refused_scaling(name);
  if (refused != nullptr) refuse(value, fmt::format("{} {}", quote(value.text), refused->reason));
}

void read_start(const JsonValue& value, const Field& field, ScalingDraft& draft) {
  refuse_what_is_no_scaling(value);
  draft.like = find_scaling_row(read_choice(value, field));
}

}  // namespace attnscale
