#include "config/law_object.h"

#include <fmt/core.h>

#include <algorithm>

#include "config/schema.h"
#include "draw/entry_moments.h"

namespace attnscale {

const std::vector<Row<LawDraft>>& law_rows() {
  static const std::vector<Row<LawDraft>> table = rows_with_law<LawDraft>();
  return table;
}

std::string words_for(const LawRow* row) {
  return "the law " + quote(row->name);
}

LawDraft read_law(const JsonValue& value, const Field& field) {
  if (value.kind == JsonKind::kObject) return read_law_object(value, law_rows());
  LawDraft draft;
  draft.row = find_law(read_choice(value, field));
  expect_no_parameters(value, words_for(draft.row), "law", parameters_of(draft.row));
  return draft;
}

void add_axes(const LawDraft& law, std::vector<NumberAxis>& axes) {
  axes.push_back(law.mean);
  axes.push_back(law.sd);
  axes.push_back(law.clip);
  axes.insert(axes.end(), law.parameters.begin(), law.parameters.end());
}

Law take_law(const LawDraft& draft, std::vector<double>::const_iterator& next) {
  Law law{draft.row, {}, next[0], next[1], next[2]};
  next += 3;
  const auto parameters = std::ssize(draft.parameters);
  law.parameters.assign(next, next + parameters);
  next += parameters;
  return law;
}

void check_clip(const JsonValue& value, const Law& law) {
  constexpr double kLeastLeft = 1e-6;  // of the spread; moments of less would lose their digits
  if (!law.is_clipped() || entry_moments(law, 0).sd > kLeastLeft * std::min(law.clip, law.sd))
    return;
  refuse(value, fmt::format("entries of mean {} and sd {} clipped at {} are all but the same; "
                            "write a larger \"clip\"",
                            number_text(law.mean), number_text(law.sd), number_text(law.clip)));
}

std::string law_names_schema() {
  return schema_of(plain_names_shape(law_table()));
}

std::string law_schema() {
  return object_shape(law_rows(), OtherKeys::kLeftToAlternatives) + ", " +
         any_of(law_alternatives(names_of(law_rows())));
}

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

}  // namespace attnscale
