#include "config/given_checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "config/experiment_checks.h"
#include "config/file_lines.h"
#include "config/values.h"
#include "estimate/given_baseline.h"
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
  const auto expect_use = [&](bool is_used, std::string_view key, std::string_view of_what) {
    if (!is_used) refuse(*value.find(key), fmt::format("it is for {}; leave it out", of_what));
  };
  expect_use(!given.dtype || std::ranges::any_of(kGivenMatrices, holds_bits), "dtype",
             "files that hold bits alone, such as |V2 or <u2, and none of these does");
  expect_use(given.layout == MatrixLayout::kHeadsFirst || is_file(&Given::queries) ||
                 is_file(&Given::keys) || is_file(&Given::values),
             "layout", "files of queries, keys and values, and there is none");
  expect_use(!given.masked_below || hides_by_numbers(given), "masked_below",
             "given scores, a mask or a bias, and there is none");
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

void check_scalings(const JsonValue& value, const Experiment& experiment) {
  const Given& given = *experiment.given;
  for (const Scaling& scaling : experiment.scalings) {
    const std::int64_t d = size_of(given).value_or(1);
    const WiderVectors wider = vectors_of(scaling, d);
    const auto refuse_it = [&](std::string_view why) {
      refuse(said_or_whole(value, "scalings"),
             fmt::format("the scaling {} {}", quote(scaling.name), why));
    };
    if (!given.scores.empty() && !given.d && needs_d(scaling.logit)) {
      refuse_it(R"(needs to know d; write "d" inside "given", such as {"scores": ..., "d": 16}, )"
                R"(or "scalings": ["none"])");
    }
    if (wider.query != d || wider.key != d) {
      refuse_it("takes norms of more than the given heads; write rms(q).rms(k)");
    }
    const bool takes_entries =
        norms_for(scaling) == NormRequest::kSums || scaling.weights.precision.takes_entries();
    if (given.baseline.normal && takes_entries && !baseline_sampler().draws_entries) {
      refuse_it(
          "takes means of entries or rounds them, which a baseline of normal entries lacks; write "
          "\"baseline\": \"matched\"");
    }
    if (given.scores.empty() || !has_norm(scaling.logit)) continue;
    refuse_it(
        "normalises queries and keys, which scores alone do not show; write \"queries\" and "
        "\"keys\" inside \"given\" instead of \"scores\"");
  }
}

void check_baseline(const JsonValue& given_value, const Experiment& experiment) {
  const Given& given = *experiment.given;
  if (!given.baseline.any()) return;
  const JsonValue& baseline = *given_value.find("baseline");
  if (experiment.metrics.empty()) {
    refuse(baseline,
           "without metrics there is nothing to compare; write \"metrics\" beside "
           "\"given\", such as [\"logit_sd\", \"top_weight\"]");
  }
  if (!given.baseline.normal) return;
  const auto d = size_of(given);
  if (!d) {
    refuse(baseline,
           "a baseline needs to know d; write \"d\" beside the scores, such as "
           "{\"scores\": ..., \"d\": 64, \"baseline\": true}");
  }
  const SamplerRow& sampler = baseline_sampler();
  if (*d > sampler.max_d || all_keys(given) > sampler.max_keys) {
    refuse(baseline, fmt::format("found {} keys of {} numbers; random ones are drawn for at most "
                                 "{} keys of {}",
                                 all_keys(given), *d, sampler.max_keys, sampler.max_d));
  }
}

void check_size_of_weights(const JsonValue& given_value, const Experiment& experiment) {
  const Given& given = *experiment.given;
  if (!given.weights) return;
  double visible = 0;
  for (std::int64_t query = 0; query < query_count(given); ++query) {
    visible += static_cast<double>(keys_by_place(given, query).count());
  }
  const double vectors =
      static_cast<double>(head_count(given)) * static_cast<double>(experiment.scalings.size());
  const JsonValue& said = said_or_whole(given_value, "weights");
  check_file_size(said, "weights.csv", vectors * visible, 4);
  if (given.values.empty()) return;
  const double lines = vectors * static_cast<double>(query_count(given)) *
                       static_cast<double>(given.values.most_columns());
  check_file_size(said, "outputs.csv", lines, 1);
}

void check_size_of_parts(const JsonValue& value, const Experiment& experiment) {
  double lines = static_cast<double>(experiment.scalings.size());
  for (const GivenPart part : {GivenPart::kHead, GivenPart::kQuery}) {
    const bool of_heads = part == GivenPart::kHead;
    lines *= static_cast<double>(of_heads ? head_count(*experiment.given)
                                          : query_count(*experiment.given));
    if (!is_split_by(experiment, part)) continue;
    check_file_size(*value.find("by"), of_heads ? "heads.csv" : "queries.csv", lines, 6);
  }
}

void warn_of_idle_numbers(const JsonValue& given_value, const Experiment& experiment,
                          std::vector<std::string>& warnings) {
  const Given& given = *experiment.given;
  if (given.weights) return;
  if (experiment.metrics.empty() && experiment.by.empty()) {
    warn(warnings, given_value,
         "nothing is written about these numbers; write \"metrics\" beside "
         "\"given\", or write \"weights\": true inside it");
  } else if (!given.values.empty()) {
    warn(warnings, given_value,
         "the values are checked, but outputs are only written with "
         "\"weights\": true");
  }
}

// "80 to 127", or "3, 7, 9 and 4 more".
std::string columns_text(const std::vector<std::int64_t>& columns) {
  constexpr std::size_t kShown = 4;
  if (columns.size() > 1 && columns.back() - columns.front() == std::ssize(columns) - 1) {
    return fmt::format("{} to {}", columns.front(), columns.back());
  }
  std::string text = std::to_string(columns.front());
  for (std::size_t i = 1; i < std::min(columns.size(), kShown); ++i) {
    text += fmt::format(", {}", columns[i]);
  }
  return columns.size() > kShown ? text + fmt::format(" and {} more", columns.size() - kShown)
                                 : text;
}

// Heads that a kernel padded have columns of zeros, which belong to no head size.
void warn_of_padding(const JsonValue& given_value, const Given& given,
                     std::vector<std::string>& warnings) {
  if (given.queries.empty()) return;
  std::vector<std::int64_t> zero;  // columns, so far
  for (std::int64_t i = 0; i < given.queries.columns(0); ++i) zero.push_back(i);
  std::vector<double> row;
  for (const GivenMatrix* matrix : {&given.queries, &given.keys}) {
    for (std::int64_t head = 0; head < matrix->heads(); ++head) {
      for (std::int64_t i = 0; i < matrix->row_count() && !zero.empty(); ++i) {
        matrix->read_row(head, i, row);
        std::erase_if(
            zero, [&](std::int64_t column) { return row[static_cast<std::size_t>(column)] != 0; });
      }
    }
  }
  if (zero.empty()) return;
  warn(
      warnings, given_value,
      fmt::format("column{} {} (counted from 0) {} 0 in all queries and keys: if heads are padded, "
                  "d is {}, not {}; cut the padding off",
                  zero.size() > 1 ? "s" : "", columns_text(zero), zero.size() > 1 ? "are" : "is",
                  given.queries.columns(0) - std::ssize(zero), given.queries.columns(0)));
}

// Finite numbers far below all others, which models add where -inf is meant.
void warn_of_low_numbers(const JsonValue& given_value, const Given& given,
                         std::vector<std::string>& warnings) {
  constexpr double kFarBelow = 20;  // times the largest of the others
  if (given.masked_below) return;
  for (const auto& [key, member] : {std::pair("scores", &Given::scores), {"bias", &Given::bias}}) {
    double least = 0;
    double most = 0;  // magnitude of the others
    std::int64_t count = 0;
    (given.*member).for_each_number([&](double number) {
      if (number > kMaskedBelow) {
        most = std::max(most, std::abs(number));
      } else if (std::isfinite(number)) {
        least = std::min(least, number);
        ++count;
      }
    });
    if (count == 0 || -least <= kFarBelow * most) continue;
    warn(warnings, *given_value.find(key),
         fmt::format(
             "{} of these numbers are {} or less, the least {:.4g}, and no other is beyond {:.4g}: "
             "if they hide keys, write \"masked_below\": {} inside \"given\"",
             count, number_text(kMaskedBelow), least, most, number_text(kMaskedBelow)));
  }
}

void warn_of_idle_masks(const JsonValue& given_value, const Experiment& experiment,
                        std::vector<std::string>& warnings) {
  const Given& given = *experiment.given;
  bool hides = given.mask.empty();
  given.mask.for_each_number(
      [&](double number) { hides = hides || number != (given.mask_adds ? 0 : 1); });
  if (!hides) {
    warn(warnings, *given_value.find("mask"),
         fmt::format("the mask hides nothing: all of it is {}", given.mask_adds ? 0 : 1));
  }
  if (given.baseline.normal && !given.bias.empty()) {
    warn(warnings, *given_value.find("baseline"),
         "normal random queries and keys are measured without the bias");
  }
}

}  // namespace

void check_sizes(const JsonValue& value, const Given& given) {
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
}

void complete_given(const JsonValue& value, Given& given) {
  complete_mask(value, given);
  complete_baseline(value, given);
  check_hidden(value, given);
}

void check_given(const JsonValue& value, const Experiment& experiment,
                 std::vector<std::string>& warnings) {
  const JsonValue& given_value = *value.find("given");
  check_scalings(value, experiment);
  check_baseline(given_value, experiment);
  check_size_of_weights(given_value, experiment);
  check_size_of_parts(value, experiment);
  warn_of_idle_numbers(given_value, experiment, warnings);
  warn_of_padding(given_value, *experiment.given, warnings);
  warn_of_low_numbers(given_value, *experiment.given, warnings);
  warn_of_idle_masks(given_value, experiment, warnings);
}

}  // namespace attnscale
