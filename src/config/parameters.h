// The numbers that a law or a named scaling needs: keys beside those of the object that names it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/axis.h"
#include "config/field.h"
#include "config/schema.h"
#include "draw/law.h"
#include "experiment/scaling_table.h"

namespace attnscale {

/// Of each number a field; of nullptr none.
std::vector<Field> parameters_of(const LawRow* row);
std::vector<Field> parameters_of(const ScalingRow* row);

/// The numbers of the object, which names `what`, such as "the law "student_t"". Throws UserError
/// where one is missing or wrong.
std::vector<NumberAxis> read_parameters(const JsonValue& object, const std::string& what,
                                        const std::vector<Field>& parameters);

/// Throws UserError if `what` needs numbers but is named alone, as the key `key` of an object
/// would name it.
void expect_no_parameters(const JsonValue& name, const std::string& what, std::string_view key,
                          const std::vector<Field>& parameters);

/// The shape of a name alone, for those rows that need no numbers.
template <typename TableRow>
std::string plain_names_shape(std::span<const TableRow> table) {
  std::vector<std::string_view> names;
  for (const TableRow& row : table) {
    if (row.parameters.empty()) names.push_back(row.name);
  }
  return names_shape(names);
}

}  // namespace attnscale
