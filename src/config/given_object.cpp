#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "config/experiment_object.h"
#include "config/schema.h"
#include "config/values.h"
#include "estimate/given_baseline.h"
#include "experiment/given_scores.h"
#include "io/matrix_file.h"
#include "io/matrix_file_error.h"

namespace attnscale {
namespace {

// A matrix: rows of numbers, the path of a file of them, or {"file": path, "sha256": of its
// contents}. A relative path starts at the folder of the value's source.

namespace fs = std::filesystem;

using FileRow = Row<GivenFile, const GivenFile>;

const std::vector<FileRow>& file_rows() {
  using enum FieldType;
  using enum FieldUse;
  // Each row stays two or three lines.
  // clang-format off
  static const std::vector<FileRow> table = {
      {{"file", kText, kRequired, "", "Path of a .npy, .npz, .safetensors or .csv file; FILE:NAME names one tensor of several."}, kBothWays<&GivenFile::path>},
      {{"sha256", kText, kOptional, "",
        "SHA-256 of the file in hexadecimal; another file is refused."},
        kBothWays<&GivenFile::sha256>},
  };
  // clang-format on
  return table;
}

std::vector<std::vector<double>> read_rows(const JsonValue& value) {
  expect_list(value, "rows of numbers, such as [[2, 1, 0]], or a file of them, such as \"q.npy\"");
  std::vector<std::vector<double>> rows;
  for (const JsonValue& row : value.items) {
    expect_list(row, "numbers, such as [2, 1, 0]");
    std::vector<double>& numbers = rows.emplace_back();
    numbers.reserve(row.items.size());
    for (const JsonValue& item : row.items) {
      if (item.kind != JsonKind::kNumber) refuse_found(item, "a number");
      numbers.push_back(item.number);
    }
  }
  return rows;
}

// The absolute path, which must be text to be written to config.json.
std::string absolute_text(const JsonValue& value, const fs::path& path) {
  std::string text = fs::absolute(path).lexically_normal().string();
  try {
    read_json(quote(text), {"path"});
  } catch (const JsonSyntaxError&) {
    refuse(value,
           "the absolute path of the file is not valid UTF-8, so it cannot be written to "
           "config.json; move the file or rename its folder");
  }
  return text;
}

GivenFile open_given_file(const JsonValue& value, const std::string& name,
                          const TensorReading& reading) {
  if (name.empty()) refuse_found(value, "the name of a .safetensors, .npz, .npy or .csv file");
  if (name.find('\0') != std::string::npos) {
    refuse(value, "found a name with the character \\u0000, which no file name has");
  }
  const bool from_command_line = value.place.line == 0;
  const fs::path path = value.place.source->folder / name;
  try {
    MatrixFile opened = open_matrix_file(tensor_name(path.string()), reading);
    return {absolute_text(value, path), std::move(opened.sha256), std::move(opened.matrix)};
  } catch (const MatrixFileError& error) {
    refuse(value, error.what());
  } catch (const std::system_error& error) {
    refuse(value,
           fmt::format(
               "{}; expected a .safetensors, .npz, .npy or .csv file, its path relative to the {}",
               error.what(), from_command_line ? "working directory" : "config"));
  }
}

GivenFile read_matrix_file(const JsonValue& value, const TensorReading& reading) {
  GivenFile said;
  read_object(value, file_rows(), said);
  GivenFile file = open_given_file(*value.find("file"), said.path, reading);
  const JsonValue* sha256 = value.find("sha256");
  if (sha256 != nullptr && said.sha256 != file.sha256) {
    refuse(*sha256,
           fmt::format("{} has the SHA-256 {}; expected {}: it is not the file that this config "
                       "was written for; bring that one back, or write the path alone to use the "
                       "file as it is",
                       file.path, file.sha256, said.sha256));
  }
  return file;
}

}  // namespace

// Found by the rows of the object.
static void read_into(const JsonValue& value, const Field& field, GivenMatrix& matrix) {
  TensorReading reading;
  reading.hides_keys = field.name == "scores";
  if (value.kind == JsonKind::kString) {
    matrix.file = open_given_file(value, value.text, reading);
  } else if (value.kind == JsonKind::kObject) {
    matrix.file = read_matrix_file(value, reading);
  } else {
    matrix.rows = read_rows(value);
  }
}

static std::string json_text(const Field&, const GivenMatrix& matrix) {
  if (matrix.empty()) return "";
  if (matrix.file) return object_text(member_texts(file_rows(), *matrix.file));
  return list_text(matrix.rows, numbers_text);
}

static std::string matrix_shape(const Field&) {
  return any_of({schema_of(list_shape(list_shape(R"("type": "number")"))),
                 R"({"type": "string", "minLength": 1})", reference_to("matrix_file")});
}

namespace {

using GivenRow = Row<Given, const Given>;

const std::vector<GivenRow>& rows() {
  using enum FieldType;
  using enum FieldUse;
  static constexpr double kLargestD = 1e15;
  // Each row stays two or three lines.
  // clang-format off
  static const std::vector<GivenRow> table = {
      {{"scores", kOwn, kOptional, "", "One row of scores per query."},
        kBothWays<&Given::scores, matrix_shape>},
      {{"d", kInteger, kOptional, "", "Head size of the given scores, if a scaling needs it.",
        {1, kLargestD}}, kBothWays<&Given::d>},
      {{"queries", kOwn, kOptional, "", "One row of d numbers per query."},
        kBothWays<&Given::queries, matrix_shape>},
      {{"keys", kOwn, kOptional, "", "One row of d numbers per key."},
        kBothWays<&Given::keys, matrix_shape>},
      {{"values", kOwn, kOptional, "", "One row per key: what it passes on."},
        kBothWays<&Given::values, matrix_shape>},
      {{"causal", kBoolean, kOptional, "false",
        "Query i sees the keys up to i + keys - queries, so that the last query sees all."},
        kBothWays<&Given::causal>},
      {{"weights", kBoolean, kOptional, "",
        "Whether weights and outputs are written; by default only if no matrix is a file."},
        kBothWays<&Given::weights>},
      {{"baseline", kBoolean, kOptional, "false",
        "Measures random queries and keys too, normal entries of mean 0 and spread 1: "
        "baselines.csv."}, kBothWays<&Given::baseline>},
  };
  // clang-format on
  return table;
}

// What must hold within the object.

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

void expect_heads(const JsonValue& given, std::string_view key, const GivenMatrix& matrix,
                  const GivenMatrix& queries) {
  if (queries.heads() % matrix.heads() == 0) return;
  refuse(*given.find(key),
         fmt::format("found {} heads in {}; expected {}, as in {}, or a number that divides it: "
                     "query heads share the others' in turn",
                     matrix.heads(), name_of(key, matrix), queries.heads(),
                     name_of("queries", queries)));
}

void check_values(const JsonValue& value, const Given& given) {
  if (given.values.empty()) return;
  expect_length(value, "values", given.values, given.values.columns(0), "the first value row");
  expect_heads(value, "values", given.values, given.queries);
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
  expect_heads(value, "keys", given.keys, given.queries);
  check_values(value, given);
}

// Each query of given scores sees a key.
void check_hidden(const JsonValue& value, const Given& given) {
  if (!given.scores.file) return;
  GivenScores scores(given);
  for (std::int64_t head = 0; head < head_count(given); ++head) {
    for (std::int64_t query = 0; query < query_count(given); ++query) {
      if (!scores.of(head, query).scores.empty()) continue;
      refuse(*value.find("scores"),
             fmt::format("head {}, row {}, counted from 0: all its keys are hidden (-inf); leave "
                         "such rows out",
                         head, query));
    }
  }
}

void check_causal(const JsonValue& value, const Given& given) {
  if (!given.causal) return;
  const JsonValue& causal = *value.find("causal");
  if (!given.scores.empty()) {
    for (std::int64_t query = 0; query < query_count(given); ++query) {
      if (given.scores.columns(query) == given.scores.columns(0)) continue;
      refuse(causal,
             "scores whose rows differ in length cannot be used with \"causal\": a row already "
             "holds only what its query sees; write \"causal\": false");
    }
  }
  const std::int64_t keys = most_visible_keys(given);
  const std::int64_t queries = query_count(given);
  if (keys < queries) {
    refuse(causal, fmt::format("found {} keys for {} queries; with \"causal\" expected at least as "
                               "many keys as queries, as the last query sees all",
                               keys, queries));
  }
}

bool has_file(const Given& given) {
  return std::ranges::any_of(
      kGivenMatrices, [&](GivenMatrix Given::*matrix) { return (given.*matrix).file.has_value(); });
}

// What must hold between the object and the rest of its experiment.

void expect_d(const JsonValue& value, const Experiment& experiment) {
  const Given& given = *experiment.given;
  if (given.scores.empty() || given.d) return;
  for (const Scaling& scaling : experiment.scalings) {
    if (!needs_d(scaling.logit)) continue;
    refuse(said_or_whole(value, "scalings"),
           fmt::format("the scaling {} needs to know d; write \"d\" inside \"given\", such as {}, "
                       "or \"scalings\": [\"none\"]",
                       quote(scaling.name), R"({"scores": ..., "d": 16})"));
  }
}

void check_norms(const JsonValue& value, const Experiment& experiment) {
  const Given& given = *experiment.given;
  for (const Scaling& scaling : experiment.scalings) {
    const std::int64_t d = size_of(given).value_or(1);
    const WiderVectors wider = vectors_of(scaling, d);
    const auto refuse_it = [&](std::string_view why) {
      refuse(said_or_whole(value, "scalings"),
             fmt::format("the scaling {} {}", quote(scaling.name), why));
    };
    if (wider.query != d || wider.key != d) {
      refuse_it("takes norms of more than the given heads; write rms(q).rms(k)");
    }
    if (given.baseline && norms_for(scaling) == NormRequest::kSums &&
        !baseline_sampler().draws_entries) {
      refuse_it("takes means of entries, which a baseline lacks; write \"baseline\": false");
    }
    if (given.scores.empty() || !has_norm(scaling.logit)) continue;
    refuse_it(
        "normalises queries and keys, which scores alone do not show; write \"queries\" and "
        "\"keys\" inside \"given\" instead of \"scores\"");
  }
}

void check_baseline(const JsonValue& given_value, const Experiment& experiment) {
  const Given& given = *experiment.given;
  if (!given.baseline) return;
  const JsonValue& baseline = *given_value.find("baseline");
  if (experiment.metrics.empty()) {
    refuse(baseline,
           "without metrics there is nothing to compare; write \"metrics\" beside "
           "\"given\", such as [\"logit_sd\", \"top_weight\"]");
  }
  const auto d = size_of(given);
  if (!d) {
    refuse(baseline,
           "a baseline needs to know d; write \"d\" beside the scores, such as "
           "{\"scores\": ..., \"d\": 64, \"baseline\": true}");
  }
  const SamplerRow& sampler = baseline_sampler();
  if (*d > sampler.max_d || most_visible_keys(given) > sampler.max_keys) {
    refuse(baseline, fmt::format("found {} keys of {} numbers; random ones are drawn for at most "
                                 "{} keys of {}",
                                 most_visible_keys(given), *d, sampler.max_keys, sampler.max_d));
  }
}

void check_size_of_weights(const JsonValue& given_value, const Experiment& experiment) {
  const Given& given = *experiment.given;
  if (!given.weights) return;
  double visible = 0;
  for (std::int64_t query = 0; query < query_count(given); ++query) {
    visible += static_cast<double>(visible_keys(given, query));
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

void warn_of_idle_numbers(const JsonValue& given_value, const Experiment& experiment,
                          std::vector<std::string>& warnings) {
  const Given& given = *experiment.given;
  if (given.weights) return;
  if (experiment.metrics.empty()) {
    warnings.push_back(
        warning_at(given_value,
                   "nothing is written about these numbers; write \"metrics\" beside "
                   "\"given\", or write \"weights\": true inside it"));
  } else if (!given.values.empty()) {
    warnings.push_back(warning_at(given_value,
                                  "the values are checked, but outputs are only written with "
                                  "\"weights\": true"));
  }
}

}  // namespace

void read_into(const JsonValue& value, const Field&, Given& given) {
  read_object(value, rows(), given);
  if (value.find("weights") == nullptr) given.weights = !has_file(given);
  const bool has_vectors = !given.queries.empty() || !given.keys.empty() || !given.values.empty();
  if (given.scores.empty() == !has_vectors || (has_vectors && given.d)) {
    refuse(value,
           "expected either \"scores\" (and \"d\" where a scaling needs it), or \"queries\" "
           "and \"keys\" (and \"values\"), not a mixture");
  }
  if (has_vectors) check_vectors(value, given);
  check_causal(value, given);
  check_hidden(value, given);
}

void check_given(const JsonValue& value, const Experiment& experiment,
                 std::vector<std::string>& warnings) {
  const JsonValue& given_value = *value.find("given");
  expect_d(value, experiment);
  check_norms(value, experiment);
  check_baseline(given_value, experiment);
  check_size_of_weights(given_value, experiment);
  warn_of_idle_numbers(given_value, experiment, warnings);
}

std::string json_text(const Field&, const Given& given) {
  // d first, as rows may be long.
  std::vector<std::string> members;
  if (given.d) members.push_back(member_text("d", std::to_string(*given.d)));
  for (const GivenRow& row : rows()) {
    if (row.field.name != "d") add_member(row, given, members);
  }
  return object_in_lines(members, "      ");
}

std::string given_schema() {
  return object_shape(rows()) + R"(, "oneOf": [
      {"required": ["scores"],
       "not": {"anyOf": [{"required": ["queries"]}, {"required": ["keys"]},
                         {"required": ["values"]}]}},
      {"required": ["queries", "keys"],
       "not": {"anyOf": [{"required": ["scores"]}, {"required": ["d"]}]}}])";
}

std::string matrix_file_schema() {
  return object_shape(file_rows());
}

}  // namespace attnscale
