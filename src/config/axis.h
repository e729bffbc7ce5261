// A number of the config that may also be several: a list, or a range with its own keys. In a list
// of objects one number of an object may be: a sweep under one name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "config/schema.h"
#include "config/values.h"
#include "draw/law.h"
#include "experiment/presets.h"

namespace attnscale {

/// One number of the config, or several if it is a list or range.
struct NumberAxis {
  std::vector<double> values;
  bool swept = false;  ///< written as a list or range
};

/// A number of the field, a list or a range of them; no value twice, at most 10,000. Throws
/// UserError at the value that is wrong.
NumberAxis read_axis(const JsonValue& value, const Field& field);

void read_into(const JsonValue& value, const Field& field, NumberAxis& member);

/// The values of a whole-number axis.
std::vector<std::int64_t> whole_values(const NumberAxis& axis);

/// The keywords of JSON Schema for a range.
std::string range_schema();

/// One number of each axis, and the one of them that is swept, if any.
struct SweepPoint {
  std::vector<double> numbers;
  std::optional<double> swept;
};

/// A point per value of the axis that is swept, or one point. Throws UserError at `object` where
/// two axes are swept.
std::vector<SweepPoint> sweep_points(const JsonValue& object, const std::vector<NumberAxis>& axes);

/// Throws UserError that there is a second `noun` of this name.
[[noreturn]] void refuse_second(const JsonValue& value, std::string_view noun,
                                const std::string& name);

/// The names in a list, to be found in constant time.
class UsedNames {
 public:
  explicit UsedNames(std::string_view noun) : noun_(noun) {}

  /// Throws UserError if the name was added before.
  void add(const JsonValue& value, const std::string& name) {
    if (!names_.insert(name).second) refuse_second(value, noun_, name);
  }

 private:
  std::string_view noun_;
  std::unordered_set<std::string> names_;
};

/// Consecutive scalings (or laws) that were written as one object with a swept number. Gives the
/// text of each number of that object: a single number, or the list of the one that is swept.
template <typename Named>
class SweptNumbers {
 public:
  explicit SweptNumbers(std::vector<Named> group) : group_(std::move(group)) {}

  const std::vector<Named>& group() const { return group_; }
  const Named& first() const { return group_.front(); }

  /// The values of the sweep if this is the number that is swept, else nothing.
  template <typename Get>
  std::vector<double> swept_values(Get get) {
    const auto is_swept = [&](const Named& one) { return one.value && *one.value == get(one); };
    if (is_written_ || !std::ranges::all_of(group_, is_swept)) return {};
    is_written_ = true;
    std::vector<double> values;
    for (const Named& one : group_) values.push_back(*one.value);
    return values;
  }

  /// The number, or the list of the sweep.
  template <typename Get>
  std::string text(Get get) {
    const std::vector<double> values = swept_values(get);
    return values.empty() ? number_text(get(first())) : numbers_text(values);
  }

 private:
  std::vector<Named> group_;
  bool is_written_ = false;
};

/// `[a, b]`, each item of the list written by `text_of` from its numbers.
template <typename Named>
std::string swept_list_text(const std::vector<Named>& all,
                            std::string (*text_of)(SweptNumbers<Named>& numbers)) {
  std::vector<std::string> items;
  for (auto next = all.begin(); next != all.end();) {
    const auto ends = [&](const Named& one) { return !one.value || one.name != next->name; };
    const auto end = std::find_if(next + 1, all.end(), ends);
    SweptNumbers<Named> numbers({next, end});
    items.push_back(text_of(numbers));
    next = end;
  }
  return list_text(items);
}

// The numbers that a law or a named scaling needs: keys beside those of the object that names it.

/// Of each number a field; of nullptr none.
std::vector<Field> parameters_of(const LawRow* row);
std::vector<Field> parameters_of(const PresetRow& row);

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
  return described_names_shape(
      table, +[](const TableRow& row) { return row.parameters.empty(); });
}

}  // namespace attnscale
