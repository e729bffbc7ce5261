#include "config/scaling_object.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "config/axis.h"
#include "config/precision_object.h"
#include "config/scaling_numbers.h"
#include "formula/print.h"

namespace attnscale {
namespace {

// A scaling in the making, but for its formula and the numbers in it.
struct ScalingDraft {
  std::optional<std::string> name;
  std::optional<NormaliserKind> normaliser;
  NumberAxis bias;
  std::optional<PrecisionSteps> precision;
  std::optional<MaxShift> max_shift;
};

// A scaling, or a sweep of one, as it is written.
using ScalingText = SweptNumbers<Scaling>;

void read_nothing(const JsonValue&, const Field&, ScalingDraft&) {}

std::string write_logit(const Field&, ScalingText& text) {
  const Scaling& first = text.first();
  return first.preset.empty() ? quote(print_formula(first.written)) : "";
}

std::string write_preset(const Field&, ScalingText& text) {
  const std::string& preset = text.first().preset;
  return preset.empty() ? "" : quote(preset);
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
      draft.bias = read_axis(member.value, field);
      return;
    }
  }
  refuse_found(value,
               "\"softmax\", {\"sink\": its logit}, such as {\"sink\": 0}, or "
               "{\"sigmoid\": what is added to each logit}, such as {\"sigmoid\": -2}");
}

std::vector<double> numbers_of(const Scaling& scaling) {
  std::vector<double> numbers;
  for (const auto& [name, formula] : scaling.numbers) numbers.push_back(*formula.number());
  return numbers;
}

std::string write_normaliser(const Field&, ScalingText& text) {
  const Scaling& first = text.first();
  Normaliser usual;
  if (const PresetRow* row = find_preset(first.preset)) {
    usual = scaling_of(*row, numbers_of(first)).weights.normaliser;
  }
  const Normaliser& normaliser = first.weights.normaliser;
  if (normaliser == usual) return "";
  const std::string_view name = name_in(kNormaliserNames, normaliser.kind);
  if (normaliser.kind == NormaliserKind::kSoftmax) return quote(name);
  const auto bias = [](const Scaling& one) { return one.weights.normaliser.bias; };
  return object_text({member_text(name, text.text(bias))});
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

std::string write_precision(const Field& field, ScalingText& text) {
  return json_text(field, text.first().weights.precision);
}

void read_max_shift(const JsonValue& value, const Field&, ScalingDraft& draft) {
  draft.max_shift = read_boolean(value) ? MaxShift::kSubtracted : MaxShift::kNone;
}
std::string write_max_shift(const Field&, ScalingText& text) {
  return text.first().weights.max_shift == MaxShift::kNone ? "false" : "";
}

std::string name_shape(const Field& field) {
  return shape_of(field) + R"(, "not": )" +
         schema_of(names_shape({kLessonScalings.begin(), kLessonScalings.end()}));
}

// A preset may be the user's own.
std::string any_text_shape(const Field&) {
  return R"("type": "string")";
}

const std::vector<Row<ScalingDraft, ScalingText>>& scaling_rows() {
  using enum FieldType;
  using enum FieldUse;
  constexpr double kLargestBias = 1e6;
  // Each row stays two to four lines.
  // clang-format off
  static const std::vector<Row<ScalingDraft, ScalingText>> table = {
      {{"name", kName, kOptional, "",
        "Name in the column scaling; not needed for a preset as it is."},
        {read_member<&ScalingDraft::name>, nullptr, name_shape}},
      {{"preset", kChoice, kOptional, "",
        "The scaling of a model or paper; its numbers are keys beside it.", {},
        {"preset", row_names<preset_table>}}, {read_nothing, write_preset, any_text_shape}},
      {{"logit", kText, kOptional, "",
        "Formula of the logit, such as cap tanh(q.k / sqrt(d) / cap). It may hold d, keys, i, j "
        "(places of query and key), and names of your own that are keys beside it: a number, a "
        "list, a range or another formula."},
        {read_nothing, write_logit}},
      {{"normaliser", kOwn, kOptional, "",
        "What turns logits into weights: softmax, softmax with a sink of this logit, or the "
        "sigmoid of logit plus this number.", {-kLargestBias, kLargestBias}},
        {read_normaliser, write_normaliser, normaliser_shape}},
      {{"precision", kChoice, kOptional, "",
        "Rounds every step from the score to the weight to this format, summed in float32, as a "
        "kernel named here does, or the steps named to theirs; float64 by default.", {},
        {"precision", precision_names}},
        {read_member<&ScalingDraft::precision>, write_precision, precision_shape}},
      {{"subtract_max", kBoolean, kOptional, "",
        "Whether the largest logit is subtracted before exponentials are taken; true by default."},
        {read_max_shift, write_max_shift}},
  };
  // clang-format on
  return table;
}

// Presets.

// Refuses a text that names what is known but is no scaling of scores.
const PresetRow& read_preset(const JsonValue& value) {
  // As papers write them: "QK-clip".
  std::string name = value.text;
  std::ranges::transform(name, name.begin(), [](char c) {
    return c == '-' || c == ' ' ? '_'
                                : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  const RefusedScaling* refused = find_refused_scaling(name);
  if (refused != nullptr) refuse(value, fmt::format("{} {}", quote(value.text), refused->reason));
  if (value.kind == JsonKind::kString && value.text.find_first_of(".(/") != std::string::npos) {
    refuse(value, fmt::format("a formula has a name: write {{\"name\": ..., \"logit\": {}}}",
                              quote(value.text)));
  }
  return *find_preset(read_choice(value, field_named(scaling_rows(), "preset")));
}

// The keys beside those of the table: names in a formula.
std::vector<std::string_view> own_keys(const JsonValue& object) {
  const std::vector<std::string_view> reserved = names_of(scaling_rows());
  std::vector<std::string_view> keys;
  for (const JsonMember& member : object.members) {
    if (std::ranges::find(reserved, member.name) == reserved.end()) keys.push_back(member.name);
  }
  return keys;
}

// One object.

std::string name_of_scaling(const JsonValue& object, const ScalingDraft& read,
                            const PresetRow* preset) {
  if (read.name) {
    // A formula of one's own may bear the name of the model that it is of.
    const bool is_taken =
        preset != nullptr ? find_preset(*read.name) != nullptr
                          : std::ranges::find(kLessonScalings, *read.name) != kLessonScalings.end();
    if (!is_taken) return *read.name;
    refuse(*object.find("name"), fmt::format("{0} is the name of a built-in scaling; choose "
                                             "another name, or write {{\"preset\": {0}}}",
                                             quote(*read.name)));
  }
  if (preset == nullptr) refuse(object, "a new scaling needs a \"name\"");
  if (!read.normaliser && !read.precision && !read.max_shift) return std::string(preset->name);
  refuse(object, fmt::format("a change of {0} needs a \"name\" of its own; write {{\"name\": "
                             "\"my_{1}\", \"preset\": {0}, ...}}",
                             quote(preset->name), preset->name));
}

// Keys that have an effect only beside others.
void expect_no_idle_key(const JsonValue& object, const WeightRule& rule) {
  const bool is_sigmoid = rule.normaliser.kind == NormaliserKind::kSigmoid;
  const JsonValue* precision = object.find("precision");
  for (const std::string_view key : {"sum", "sum_order"}) {
    const JsonValue* step = precision != nullptr ? precision->find(key) : nullptr;
    if (step == nullptr || !is_sigmoid) continue;
    refuse(*step, fmt::format("{} has no effect on a sigmoid, which sums nothing; leave it out",
                              quote(key)));
  }
  const JsonValue* shift = object.find("subtract_max");
  if (shift == nullptr) return;
  if (is_sigmoid) {
    refuse(*shift,
           "\"subtract_max\" has no effect on a sigmoid, which subtracts nothing; leave it out");
  }
  if (!rule.precision.has_exact_weights()) return;
  refuse(*shift,
         "\"subtract_max\" is for emulated precisions only; add a \"precision\", such as "
         "\"float16\", or leave it out");
}

// The row that the object names, or nullptr if it has a formula.
const PresetRow* preset_of(const JsonValue& object) {
  const JsonValue* preset = object.find("preset");
  const JsonValue* logit = object.find("logit");
  if (preset == nullptr && logit == nullptr) {
    refuse(object,
           "a scaling needs its formula or a preset, such as {\"name\": \"half\", \"logit\": "
           "\"0.5 q.k / sqrt(d)\"} or {\"preset\": \"gemma4\"}");
  }
  if (preset != nullptr && logit != nullptr) {
    refuse(*preset, "found both \"preset\" and \"logit\"; expected one of them");
  }
  return preset != nullptr ? &read_preset(*preset) : nullptr;
}

void read_object_into(const JsonValue& object, UsedNames& names, std::vector<Scaling>& scalings) {
  const PresetRow* const preset = preset_of(object);
  const std::vector<std::string_view> own = own_keys(object);
  ScalingDraft draft;
  read_object(object, scaling_rows(), draft,
              preset != nullptr ? names_of(parameters_of(*preset)) : own);
  const std::string name = name_of_scaling(object, draft, preset);
  names.add(object, name);
  std::optional<Formula> logit;
  std::vector<NamedNumber> numbers;
  if (preset != nullptr) {
    numbers = read_preset_numbers(object, *preset);
  } else {
    OwnFormula read = read_own_formula(object, own, names_of(scaling_rows()));
    logit = std::move(read.logit);
    numbers = std::move(read.numbers);
  }
  std::vector<NumberAxis> axes;
  for (const NamedNumber& number : numbers) axes.push_back(number.axis);
  axes.push_back(draft.bias.values.empty() ? NumberAxis{{0}} : draft.bias);
  for (const SweepPoint& point : sweep_points(object, axes)) {
    Scaling& scaling = scalings.emplace_back();
    if (preset != nullptr) {
      scaling = scaling_of(*preset, point.numbers);
    } else {
      FormulaValues values;
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        values.emplace_back(numbers[i].name, numbers[i].formula.value_or(point.numbers[i]));
      }
      scaling = make_scaling(name, *logit, std::move(values));
      if (const auto left = own_names(scaling.logit); !left.empty()) {
        refuse(*object.find("logit"),
               fmt::format("with what stands for {} the formula has no end, or more than 10,000 "
                           "parts; give it a number",
                           quote(left.front())));
      }
    }
    scaling.name = name;
    scaling.value = point.swept;
    WeightRule& weights = scaling.weights;
    if (draft.normaliser) weights.normaliser = {*draft.normaliser, point.numbers.back()};
    weights.precision = draft.precision.value_or(PrecisionSteps());
    weights.max_shift = draft.max_shift.value_or(MaxShift::kSubtracted);
    expect_no_idle_key(object, weights);
  }
}

// A preset that needs no number, by its name.
void read_name_into(const JsonValue& value, UsedNames& names, std::vector<Scaling>& scalings) {
  const PresetRow& row = read_preset(value);
  expect_no_parameters(value, "the scaling " + quote(row.name), "preset", parameters_of(row));
  names.add(value, std::string(row.name));
  scalings.push_back(*find_scaling(row.name));
}

std::string scaling_text(ScalingText& text) {
  const Scaling& first = text.first();
  if (find_scaling(first.name) == first) return quote(first.name);
  std::vector<std::string> members;
  if (first.name != first.preset) members.push_back(member_text("name", quote(first.name)));
  for (const std::string_view key : {"preset", "logit"}) {
    for (const auto& row : scaling_rows()) {
      if (row.field.name == key) add_member(row, text, members);
    }
  }
  for (std::size_t i = 0; i < first.numbers.size(); ++i) {
    const auto& [name, formula] = first.numbers[i];
    const auto number = [i](const Scaling& one) { return *one.numbers[i].second.number(); };
    members.push_back(
        member_text(name, formula.number() ? text.text(number) : quote(print_formula(formula))));
  }
  for (const auto& row : scaling_rows()) {
    if (row.field.name != "preset" && row.field.name != "logit") add_member(row, text, members);
  }
  return object_text(members);
}

// A preset with its numbers; a name of its own unless it is taken as it is.
std::string preset_schema(const PresetRow& row) {
  const std::vector<Field> parameters = parameters_of(row);
  std::vector<std::string> properties = {
      member_text("preset", schema_of(member_text("const", quote(row.name))))};
  for (const std::string_view key : names_of(scaling_rows())) {
    if (key == "preset" || key == "logit") continue;
    const std::string is_free = R"({"not": )" + reference_to("preset") + "}";
    properties.push_back(member_text(key, key == "name" ? is_free : "true"));
  }
  std::vector<std::string_view> required = {"preset"};
  for (const Field& field : parameters) {
    properties.push_back(property_text(field, shape_of(field)));
    if (field.fallback.empty()) required.push_back(field.name);
  }
  const std::string is_changed =
      any_of({R"({"required": ["normaliser"]})", R"({"required": ["precision"]})",
              R"({"required": ["subtract_max"]})"});
  return schema_of(fmt::format(
      R"({}, {}, "additionalProperties": false, "if": {}, "then": {{"required": ["name"]}})",
      required_shape(required), member_text("properties", object_text(properties)),
      schema_of(is_changed)));
}

// A scaling whose keys are those of the table, as said here, and names in a formula.
std::string own_schema(std::string_view required, const std::vector<std::string_view>& refused,
                       const std::string& more = "") {
  std::vector<std::string> properties;
  for (const std::string_view key : names_of(scaling_rows())) {
    const bool is_allowed = std::ranges::find(refused, key) == refused.end();
    properties.push_back(member_text(key, is_allowed ? "true" : "false"));
  }
  for (const std::string_view name : formula_names()) {
    properties.push_back(member_text(name, "false"));
  }
  const std::string own_number =
      any_of({schema_of(axis_shape("number", kAnyBounds)), R"({"type": "string"})"});
  return schema_of(fmt::format(R"({}{}, {}, "additionalProperties": {}, )"
                               R"("propertyNames": {{"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}})",
                               required, more, member_text("properties", object_text(properties)),
                               schema_of(own_number)));
}

}  // namespace

void read_into(const JsonValue& value, const Field&, std::vector<Scaling>& scalings) {
  expect_list(value, "scalings, such as [\"none\", \"div_sqrt_d\"]");
  UsedNames names("scaling");
  for (const JsonValue& item : value.items) {
    if (item.kind == JsonKind::kObject) {
      read_object_into(item, names, scalings);
    } else {
      read_name_into(item, names, scalings);
    }
  }
}

std::string json_text(const Field&, const std::vector<Scaling>& scalings) {
  return swept_list_text(scalings, scaling_text);
}

std::string scalings_shape(const Field& field) {
  return distinct_list_shape(any_of({schema_of(any_text_shape(field)), reference_to("scaling")}));
}

std::string presets_shape() {
  return fmt::format(
      R"("type": "object", "propertyNames": {{"not": {}}}, )"
      R"("additionalProperties": {})",
      reference_to("preset"),
      own_schema(required_shape({"logit"}), {"name", "preset"}, R"(, "type": "object")"));
}

std::string scaling_schema() {
  std::vector<std::string> kinds = {
      own_schema(required_shape({"name", "logit"}), {"preset"}),
      own_schema(
          required_shape({"preset"}), {"logit"},
          fmt::format(R"(, "not": {{"properties": {{"preset": {}}}}})", reference_to("preset")))};
  for (const PresetRow& row : preset_table()) kinds.push_back(preset_schema(row));
  return object_shape(scaling_rows(), OtherKeys::kLeftToAlternatives) + ", " + any_of(kinds) +
         ", " +
         R"("defaultSnippets": [{"label": "formula", "body": {"name": "$1", "logit": )"
         R"("${2:q.k / sqrt(d)}"}}, {"label": "preset", "body": {"preset": "$1"}}])";
}

}  // namespace attnscale
