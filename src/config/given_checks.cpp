#include "config/given_checks.h"

#include <fmt/core.h>

#include <algorithm>

#include "config/values.h"
#include "experiment/given_scores.h"

namespace attnscale {
namespace {

// "the keys in k.npy", or "the keys".
std::string name_of(std::string_view key, const GivenMatrix& matrix) {
  return fmt::format("the {}", key) + (matrix.file ? " in " + matrix.file->path : "");
}

// All rows of `matrix` must hold `length` numbers; `as` says as what.
void expect_length(const JsonValue& given, std::string_view key, const GivenMatrix& matrix,
                   std::int64_t length, const std::string& as) {
  const JsonValue& value = *given.find(key);
  for (std::int64_t row = 0; row < matrix.row_count(); ++row) {
    if (matrix.columns(row) == length) continue;
    const JsonValue& place = matrix.file ? value : value.items[static_cast<std::size_t>(row)];
    refuse(place, fmt::format("found a row of {} numbers in {}; expected {}, as in {}",
                              matrix.columns(row), name_of(key, matrix), length, as));
  }
}

// What there is one row of for every query, and its key.
std::pair<std::string_view, const GivenMatrix&> rows_of(const Given& given) {
  if (given.scores.empty()) return {"queries", given.queries};
  return {"scores", given.scores};
}

// The heads of queries share those of `matrix`, batch by batch.
void expect_heads(const JsonValue& value, std::string_view key, const GivenMatrix& matrix,
                  const Given& given) {
  const auto& [name, rows] = rows_of(given);
  const std::int64_t batches = matrix.batches();
  const bool is_of_keys = key == "mask" || key == "bias";
  if (batches != rows.batches() && !(is_of_keys && batches == 1)) {
    refuse(*value.find(key),
           fmt::format("found {} in {}; expected {}, as in {}",
                       batches == 1 ? "1 batch" : fmt::format("{} batches", batches),
                       name_of(key, matrix), rows.batches(), name_of(name, rows)));
  }
  if (rows.heads_per_batch() % matrix.heads_per_batch() == 0) return;
  refuse(*value.find(key),
         fmt::format("found {} heads in {}; expected {}, as in {}, or a number that divides it: "
                     "query heads share the others' in turn{}",
                     matrix.heads_per_batch(), name_of(key, matrix), rows.heads_per_batch(),
                     name_of(name, rows),
                     matrix.file && !is_of_keys
                         ? "; if files are (rows, heads, d), write \"layout\": \"rows_first\""
                         : ""));
}

void check_values(const JsonValue& value, const Given& given) {
  if (given.values.empty()) return;
  expect_length(value, "values", given.values, given.values.columns(0), "the first value row");
  expect_heads(value, "values", given.values, given);
  if (given.values.row_count() != given.keys.row_count()) {
    refuse(*value.find("values"),
           fmt::format("found {} rows in {}; expected one per key, {}, as in {}",
                       given.values.row_count(), name_of("values", given.values),
                       given.keys.row_count(), name_of("keys", given.keys)));
  }
}

void check_vectors(const JsonValue& value, const Given& given) {
  for (const std::string_view key : {"queries", "keys"}) {
    if (value.find(key) == nullptr) refuse(value, fmt::format("the key \"{}\" is missing", key));
  }
  const std::int64_t d = given.queries.columns(0);
  expect_length(value, "queries", given.queries, d, "the first query");
  expect_length(value, "keys", given.keys, d, name_of("queries", given.queries));
  expect_heads(value, "keys", given.keys, given);
  check_values(value, given);
}

// What says which keys a query sees, or adds to their logits, needs a row of all keys.
void check_places(const JsonValue& value, const Given& given) {
  const std::int64_t keys = all_keys(given);
  const std::int64_t queries = query_count(given);
  for (const std::string_view key : {"causal", "window", "mask", "bias"}) {
    const JsonValue* said = value.find(key);
    if (said == nullptr || (key == "causal" && !given.causal)) continue;
    for (std::int64_t query = 0; !given.scores.empty() && query < queries; ++query) {
      if (given.scores.columns(query) == keys) continue;
      refuse(*said, fmt::format("scores whose rows differ in length cannot be used with \"{}\": a "
                                "row already holds only what its query sees; leave \"{}\" out",
                                key, key));
    }
    const bool is_of_places = key == "causal" || key == "window";
    if (is_of_places && keys < queries) {
      refuse(*said, fmt::format("found {} keys for {} queries; with \"{}\" expected at least as "
                                "many keys as queries, as the last query sees all",
                                keys, queries, key));
    }
  }
}

void check_laid_out(const JsonValue& value, const Given& given) {
  for (const auto& [key, member] : {std::pair("mask", &Given::mask), {"bias", &Given::bias}}) {
    const GivenMatrix& matrix = given.*member;
    if (matrix.empty()) continue;
    expect_length(value, key, matrix, all_keys(given), "the number of keys");
    expect_heads(value, key, matrix, given);
    if (matrix.row_count() == 1 || matrix.row_count() == query_count(given)) continue;
    refuse(*value.find(key),
           fmt::format("found {} rows in {}; expected one per query, {}, or one for all queries",
                       matrix.row_count(), name_of(key, matrix), query_count(given)));
  }
}

// A mask of 1 and 0, or one that is added. Of zeros alone it is the latter, but for true and false.
void complete_mask(const JsonValue& value, Given& given) {
  if (given.mask.empty()) return;
  bool has_one = given.mask.file && given.mask.file->matrix.format == NumberFormat::kBool;
  const double low = given.masked_below.value_or(kMaskedBelow);
  bool has_low = false;
  given.mask.for_each_number([&](double number) {
    has_one = has_one || number == 1;
    has_low = has_low || number <= low;
    if ((number == 1 && !has_low) || number == 0 || (number <= low && !has_one)) return;
    refuse(*value.find("mask"),
           fmt::format("found {} in {}; expected 1 where a query sees a key and 0 where not, or 0 "
                       "where it sees it and -inf (or at most {}) where not; what is added to "
                       "logits is a \"bias\"",
                       number_text(number), name_of("mask", given.mask), number_text(low)));
  });
  given.mask_adds = !has_one;
}

// Scores have no entries to match.
void complete_baseline(const JsonValue& value, Given& given) {
  if (given.scores.empty() || !given.baseline.matched) return;
  given.baseline.matched = false;
  if (given.baseline.normal) return;
  refuse(*value.find("baseline"),
         "scores do not show the entries to match; write \"normal\", or give \"queries\" and "
         "\"keys\" instead of \"scores\"");
}

// Keys that nothing asks for.
void check_idle(const JsonValue& value, const Given& given) {
  const auto is_file = [&](GivenMatrix Given::*matrix) { return (given.*matrix).file.has_value(); };
  const auto holds_bits = [&](GivenMatrix Given::*matrix) {
    return is_file(matrix) && (given.*matrix).file->holds_bits;
  };
  if (given.dtype && std::ranges::none_of(kGivenMatrices, holds_bits)) {
    refuse(*value.find("dtype"),
           "it is for files that hold bits alone, such as |V2 or <u2, and none of these does; "
           "leave it out");
  }
  if (given.layout != MatrixLayout::kHeadsFirst && !is_file(&Given::queries) &&
      !is_file(&Given::keys) && !is_file(&Given::values)) {
    refuse(*value.find("layout"),
           "it is for files of queries, keys and values, and there is none; leave it out");
  }
  if (given.masked_below && !hides_by_numbers(given)) {
    refuse(*value.find("masked_below"),
           "it is for given scores, a mask or a bias, and there is none; leave it out");
  }
}

// Each query sees a key.
void check_hidden(const JsonValue& value, const Given& given) {
  if (!hides_by_numbers(given)) return;
  SeenKeys seen(given);
  for (std::int64_t head = 0; head < head_count(given); ++head) {
    for (std::int64_t query = 0; query < query_count(given); ++query) {
      if (!seen.of(head, query).empty()) continue;
      const std::string_view key = !given.mask.empty()     ? "mask"
                                   : !given.scores.empty() ? "scores"
                                                           : "bias";
      refuse(*value.find(key), fmt::format("head {}, row {}, counted from 0: all its keys are "
                                           "hidden; leave such rows out",
                                           head, query));
    }
  }
}

}  // namespace

void complete_given(const JsonValue& value, Given& given) {
  const bool has_vectors = !given.queries.empty() || !given.keys.empty() || !given.values.empty();
  if (given.scores.empty() == !has_vectors || (has_vectors && given.d)) {
    refuse(value,
           "expected either \"scores\" (and \"d\" where a scaling needs it), or \"queries\" "
           "and \"keys\" (and \"values\"), not a mixture");
  }
  if (has_vectors) check_vectors(value, given);
  check_places(value, given);
  check_laid_out(value, given);
  check_idle(value, given);
  complete_mask(value, given);
  complete_baseline(value, given);
  check_hidden(value, given);
}

}  // namespace attnscale
