// A law in the config: one of the key `entries`, by name or as an object with its numbers.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "config/axis.h"
#include "config/field.h"
#include "config/object.h"
#include "config/values.h"
#include "draw/law.h"

namespace attnscale {

/// A law in the making: each number may be swept.
struct LawDraft {
  const LawRow* row = nullptr;
  NumberAxis mean = {{0}};
  NumberAxis sd = {{1}};
  NumberAxis clip = {{std::numeric_limits<double>::infinity()}};
  std::vector<NumberAxis> parameters;
};

// The keys of a law, which have the parameters of the law beside them; each stays a few lines.
// clang-format off
inline constexpr double kLargestEntry = 1e6;
inline constexpr double kLeastSd = 1e-70;  // squares of products of two entries are numbers too
inline constexpr FieldChoices kLawChoices = {"law", row_names<law_table>};
inline constexpr Field kLawField = {"law", FieldType::kChoice, FieldUse::kOptional, R"("normal")",
                                    "Name of the law.", {}, kLawChoices};
inline constexpr Field kMeanField = {"mean", FieldType::kNumberAxis, FieldUse::kOptional, "0",
                                     "Mean of an entry.", {-kLargestEntry, kLargestEntry}};
inline constexpr Field kSdField = {"sd", FieldType::kNumberAxis, FieldUse::kOptional, "1",
                                   "Spread of an entry.", {kLeastSd, kLargestEntry}};
inline constexpr Field kClipField = {"clip", FieldType::kNumberAxis, FieldUse::kOptional, "",
                                     "Size that entries are clipped to, once mean and sd are "
                                      "theirs.",
                                     {kLeastSd, kLargestEntry}};
// clang-format on

/// The rows of an object that holds a law.
template <typename Draft>
std::vector<Row<Draft>> rows_with_law() {
  return {{kLawField, kReadOnly<&LawDraft::row>},
          {kMeanField, kReadOnly<&LawDraft::mean>},
          {kSdField, kReadOnly<&LawDraft::sd>},
          {kClipField, kReadOnly<&LawDraft::clip>}};
}

/// The same of a law alone.
const std::vector<Row<LawDraft>>& law_rows();

/// What messages call a law.
std::string words_for(const LawRow* row);

/// Reads an object of these rows that names a law, with the law's own numbers.
template <typename Draft>
Draft read_law_object(const JsonValue& value, const std::vector<Row<Draft>>& rows) {
  // The law comes first: it decides which other keys there are.
  Draft draft;
  const JsonValue* law = value.find("law");
  if (law != nullptr) read_into(*law, kLawField, draft.row);
  const std::vector<Field> parameters = parameters_of(draft.row);
  read_object(value, rows, draft, names_of(parameters));
  draft.parameters = read_parameters(value, words_for(draft.row), parameters);
  return draft;
}

/// A law as an object, or by its name if it needs no number.
LawDraft read_law(const JsonValue& value, const Field& field);

/// Adds the numbers of a law.
void add_axes(const LawDraft& law, std::vector<NumberAxis>& axes);

/// The law with the numbers at `next`, in the order of add_axes; moves `next` past them.
Law take_law(const LawDraft& draft, std::vector<double>::const_iterator& next);

/// Throws UserError at `value` where a clip leaves entries that are all but the same.
void check_clip(const JsonValue& value, const Law& law);

/// Laws by name alone: those without parameters.
std::string law_names_schema();

/// The keywords of JSON Schema for a law's object.
std::string law_schema();

/// For each law, what its object may hold: `keys` and the law's parameters.
std::vector<std::string> law_alternatives(const std::vector<std::string_view>& keys);

}  // namespace attnscale
