#include "config/scaling_numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "config/nearest_name.h"

namespace attnscale {
namespace {

void expect_usable_name(const JsonMember& member) {
  if (std::ranges::find(formula_names(), member.name) != formula_names().end()) {
    refuse(member.place, member.value.pointer,
           fmt::format("{} has a meaning of its own in every formula; choose another name",
                       quote(member.name)));
  }
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (!member.name.empty() && std::isdigit(static_cast<unsigned char>(member.name[0])) == 0 &&
      std::ranges::all_of(member.name, fits)) {
    return;
  }
  refuse(member.place, member.value.pointer,
         fmt::format("found the name {}; names in a formula are of letters a-z, A-Z, digits and "
                     "underscores, and begin with no digit",
                     quote(shortened(member.name))));
}

Formula read_formula(const JsonValue& value, FormulaKind kind,
                     const std::vector<std::string_view>& own) {
  try {
    return parse_formula(read_text(value), kind, own, nearest_name);
  } catch (const FormulaError& error) {
    JsonPlace place = value.place;
    place.column += error.character;  // the first is behind the quote
    refuse(place, value.pointer, error.what());
  }
}

}  // namespace

OwnFormula read_own_formula(const JsonValue& object, const std::vector<std::string_view>& own,
                            const std::vector<std::string_view>& reserved) {
  static constexpr Field kNumber{"",        FieldType::kNumberAxis, FieldUse::kOptional, "", "",
                                 kAnyBounds};
  const auto is_own = [&](const JsonMember& member) {
    return std::ranges::find(own, member.name) != own.end();
  };
  for (const JsonMember& member : object.members) {
    if (is_own(member)) expect_usable_name(member);
  }
  OwnFormula read{read_formula(*object.find("logit"), FormulaKind::kLogit, own), {}};
  std::vector<std::string> used = own_names(read.logit);
  for (std::size_t i = 0; i < used.size(); ++i) {
    const JsonValue& value = *object.find(used[i]);
    NamedNumber& number = read.numbers.emplace_back(NamedNumber{used[i], {{0}}});
    if (value.kind != JsonKind::kString) {
      number.axis = read_axis(value, kNumber);
      continue;
    }
    number.formula = read_formula(value, FormulaKind::kNumber, own);
    for (const std::string& name : own_names(*number.formula)) {
      if (std::ranges::find(used, name) == used.end()) used.push_back(name);
    }
  }
  for (const JsonMember& member : object.members) {
    if (!is_own(member) || std::ranges::find(used, member.name) != used.end()) continue;
    const auto meant = nearest_name(member.name, reserved);
    refuse(member.place, member.value.pointer,
           fmt::format("the formula has no {}; {}", quote(member.name),
                       meant ? fmt::format("did you mean the key {}?", quote(*meant))
                             : "use the name in it, or remove the key"));
  }
  return read;
}

std::vector<NamedNumber> read_preset_numbers(const JsonValue& object, const PresetRow& row) {
  const std::vector<Field> parameters = parameters_of(row);
  const std::vector<NumberAxis> axes =
      read_parameters(object, "the scaling " + quote(row.name), parameters);
  std::vector<NamedNumber> numbers;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    numbers.push_back({std::string(parameters[i].name), axes[i]});
  }
  return numbers;
}

}  // namespace attnscale
