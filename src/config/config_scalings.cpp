// The key `scalings` of a config: scalings and presets by name, or objects that start from one and
// change it.
#include <algorithm>
#include <cctype>

#include "config/config_reader.h"
#include "config/config_sweeps.h"
#include "config/values.h"

namespace attnscale {
namespace {

void refuse_what_is_no_scaling(const JsonValue& value) {
  // As papers write them: "QK-clip".
  std::string name = value.text;
  std::ranges::transform(name, name.begin(), [](char c) {
    return c == '-' || c == ' ' ? '_'
                                : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  const RefusedScaling* refused = find_refused_scaling(name);
  if (refused != nullptr) refuse(value, quote(value.text) + " " + std::string(refused->reason));
}

/// ", "position": ..." for every number of the row.
std::string numbers_to_write(const ScalingRow& row) {
  std::string text;
  for (const ScalingParameter& parameter : row.parameters) {
    text += ", " + quote(parameter.name) + ": ...";
  }
  return text;
}

NumberBounds parameter_bounds(const ScalingParameter& parameter) {
  return {{parameter.least, parameter.most}, NumberKind::kReal, std::string(parameter.help)};
}

/// Reads an object that may name a row, with the row's own numbers.
ScalingDraft read_draft(const JsonValue& value) {
  // The row comes first: it decides which other keys there are.
  ConfigDraft draft;
  std::vector<std::string_view> parameter_names;
  for (const std::string_view key : {"like", "preset"}) {
    const JsonValue* named = value.find(key);
    if (named == nullptr) continue;
    if (draft.scaling.like != nullptr) {
      refuse(*named, "both \"like\" and \"preset\"; expected one of them to start from");
    }
    const ConfigField& field = *find_field(FieldPlace::kInScaling, key);
    field.land(*named, field, draft);
  }
  const ScalingRow* row = draft.scaling.like;
  if (row != nullptr) {
    for (const ScalingParameter& one : row->parameters) parameter_names.push_back(one.name);
  }
  read_object(value, FieldPlace::kInScaling, draft, parameter_names);
  if (row == nullptr) return draft.scaling;
  for (const ScalingParameter& parameter : row->parameters) {
    const JsonValue* number = value.find(parameter.name);
    if (number == nullptr) {
      refuse(value, "the scaling " + quote(row->name) + " needs the key " + quote(parameter.name) +
                        ": " + std::string(parameter.help));
    }
    draft.scaling.parameters.push_back(read_axis(*number, parameter_bounds(parameter)));
  }
  return draft.scaling;
}

std::string name_of_scaling(const JsonValue& value, const ScalingDraft& read) {
  if (!read.name) {
    const bool as_it_is =
        read.like != nullptr && value.members.size() == 1 + read.like->parameters.size();
    if (as_it_is) return std::string(read.like->name);
    refuse(value, read.like == nullptr
                      ? "a scaling of your own needs a \"name\""
                      : "what changes " + quote(read.like->name) +
                            " needs a \"name\" of its own; write {\"name\": \"my_" +
                            std::string(read.like->name) +
                            "\", \"like\": " + quote(read.like->name) + ", ...}");
  }
  if (find_scaling_row(*read.name) != nullptr) {
    refuse(*value.find("name"), quote(*read.name) +
                                    " is the name of a scaling the tool knows; "
                                    "choose another name, or write {\"like\": " +
                                    quote(*read.name) + "}");
  }
  return *read.name;
}

/// The number that a scaling comes to together with the one it is like.
void expect_within(const JsonValue& value, const std::string& key, double number) {
  const NumberBounds bounds = bounds_of(*find_field(FieldPlace::kInScaling, key));
  if (number >= bounds.range.least && number <= bounds.range.most) return;
  refuse(value, "the " + key + " comes to " + number_text(number) + "; expected " +
                    describe_bounds(bounds));
}

/// What says something only beside something else.
void expect_no_idle_key(const JsonValue& value, const ScalingRule& rule) {
  const JsonValue* base = value.find("log_keys_base");
  if (base != nullptr && !rule.log_keys) {
    refuse(*base, "\"log_keys_base\" says nothing without \"log_keys\": true; add it");
  }
  const JsonValue* d = value.find("d");
  if (d != nullptr && rule.d_power == 0) {
    refuse(*d, "\"d\" says nothing without a power of it; add \"d_power\", such as -0.5");
  }
  const JsonValue* shift = value.find("subtract_max");
  if (shift != nullptr && rule.weights.normaliser.kind == NormaliserKind::kSigmoid) {
    refuse(*shift,
           "\"subtract_max\" says nothing of a sigmoid, which subtracts nothing; leave it out");
  }
  if (rule.weights.precision != Precision::kFloat64) return;
  for (const std::string_view key : {"scale_order", "subtract_max"}) {
    const JsonValue* said = value.find(key);
    if (said == nullptr) continue;
    refuse(*said, quote(key) +
                      " is for emulated precisions only; add a \"precision\", such as \"float16\", "
                      "or leave it out");
  }
}

void check_rule(const JsonValue& value, const ScalingRule& rule) {
  expect_within(value, "multiplier", rule.multiplier);
  expect_within(value, "d_power", rule.d_power);
  expect_no_idle_key(value, rule);
}

void read_scaling_object(const JsonValue& value, std::vector<Scaling>& scalings) {
  const ScalingDraft read = read_draft(value);
  const std::string name = name_of_scaling(value, read);
  refuse_repeated_name(value, scalings, name, "scaling");

  // The row's numbers, then those that are said beside it.
  std::vector<const NumberAxis*> axes;
  std::vector<const ScalingNumber*> said;
  for (const NumberAxis& axis : read.parameters) axes.push_back(&axis);
  for (const ScalingNumber& number : kScalingNumbers) {
    if ((read.*number.axis).values.empty()) continue;
    axes.push_back(&(read.*number.axis));
    said.push_back(&number);
  }
  const auto parameters = static_cast<std::ptrdiff_t>(read.parameters.size());
  for_each_value(value, axes, [&](const std::vector<double>& numbers, std::optional<double> swept) {
    ScalingChanges changes = read.words;
    for (std::size_t i = 0; i < said.size(); ++i) {
      changes.*said[i]->number = numbers[read.parameters.size() + i];
    }
    scalings.push_back(make_scaling(
        name, read.like, {numbers.begin(), numbers.begin() + parameters}, changes, swept));
    check_rule(value, scalings.back().rule);
  });
}

}  // namespace

void land_scaling_row(const JsonValue& value, const ConfigField& field, ConfigDraft& draft) {
  refuse_what_is_no_scaling(value);
  draft.scaling.like = find_scaling_row(read_choice(value, field));
}

void land_gain(const JsonValue& value, const ConfigField& field, ConfigDraft& draft) {
  const NumberBounds bounds = bounds_of(field);
  const bool is_list = value.kind == JsonKind::kArray && !value.items.empty();
  if (!is_list) {
    draft.scaling.gain = read_axis(value, bounds);
    return;
  }
  // Two numbers are one gain of each side, so each value of a sweep stands in a list of its own.
  if (value.items.front().kind == JsonKind::kArray) {
    JsonValue values = value;
    for (JsonValue& item : values.items) {
      if (item.kind != JsonKind::kArray || item.items.size() != 1) {
        refuse(item, "found " + describe(item) + "; expected [gain], as in [[0.25], [0.5], [1]]");
      }
      item = JsonValue(item.items.front());
    }
    draft.scaling.gain = read_axis(values, bounds);
    return;
  }
  if (value.items.size() != 2) {
    refuse(value, "found " + describe(value) +
                      "; expected one number for queries and keys, two numbers "
                      "[of queries, of keys], a range, or several such as [[0.25], [0.5], [1]]");
  }
  draft.scaling.gain = {{read_number(value.items[0], bounds)}, false};
  draft.scaling.key_gain = {{read_number(value.items[1], bounds)}, false};
}

void land_normaliser(const JsonValue& value, const ConfigField& field, ConfigDraft& draft) {
  if (value.kind == JsonKind::kString && value.text == kNormaliserNames[0]) {
    draft.scaling.words.normaliser = NormaliserKind::kSoftmax;
    return;
  }
  if (value.kind == JsonKind::kObject && value.members.size() == 1) {
    const JsonMember& member = value.members.front();
    const auto name = std::find(kNormaliserNames.begin() + 1, kNormaliserNames.end(), member.name);
    if (name != kNormaliserNames.end()) {
      draft.scaling.words.normaliser = static_cast<NormaliserKind>(name - kNormaliserNames.begin());
      draft.scaling.bias = read_axis(member.value, bounds_of(field));
      return;
    }
  }
  refuse(value, "found " + describe(value) +
                    "; expected \"softmax\", {\"sink\": its logit}, such as {\"sink\": 0}, or "
                    "{\"sigmoid\": what is added to each logit}, such as {\"sigmoid\": -2}");
}

void land_scalings(const JsonValue& value, const ConfigField& field, ConfigDraft& draft) {
  expect_list(value, "scalings, such as [\"none\", \"div_sqrt_d\"]");
  std::vector<Scaling>& scalings = draft.experiment.scalings;
  for (const JsonValue& item : value.items) {
    if (item.kind == JsonKind::kObject) {
      read_scaling_object(item, scalings);
      continue;
    }
    refuse_what_is_no_scaling(item);
    const ScalingRow& row = *find_scaling_row(read_choice(item, field));
    if (!row.parameters.empty()) {
      refuse(item, "the scaling " + quote(row.name) + " needs a number; write {\"preset\": " +
                       quote(row.name) + numbers_to_write(row) + "}");
    }
    refuse_repeated_name(item, scalings, std::string(row.name), "scaling");
    scalings.push_back(*find_scaling(row.name));
  }
}

}  // namespace attnscale
