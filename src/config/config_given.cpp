#include "config/config_given.h"

#include <algorithm>
#include <system_error>

#include "config/config_checks.h"
#include "config/config_reader.h"
#include "config/values.h"
#include "estimate/given_baseline.h"
#include "experiment/given_scores.h"
#include "io/matrix_file.h"
#include "io/matrix_file_error.h"

namespace attnscale {
namespace {

namespace fs = std::filesystem;

std::vector<std::vector<double>> read_rows(const JsonValue& value) {
  expect_list(value, "rows of numbers, such as [[2, 1, 0]], or a file of them, such as \"q.npy\"");
  std::vector<std::vector<double>> rows;
  for (const JsonValue& row : value.items) {
    expect_list(row, "numbers, such as [2, 1, 0]");
    std::vector<double>& numbers = rows.emplace_back();
    numbers.reserve(row.items.size());
    for (const JsonValue& item : row.items) {
      if (item.kind != JsonKind::kNumber) {
        refuse(item, "found " + describe(item) + "; expected a number");
      }
      numbers.push_back(item.number);
    }
  }
  return rows;
}

/// The absolute path, which must be text to stand in config.json.
std::string absolute_text(const JsonValue& value, const fs::path& path) {
  std::string text = fs::absolute(path).lexically_normal().string();
  try {
    read_json(quote(text), "path");
  } catch (const JsonSyntaxError&) {
    refuse(value,
           "the bytes of the file's absolute path are not UTF-8, and so cannot stand in "
           "config.json; move or rename its folder");
  }
  return text;
}

GivenFile open_given_file(const JsonValue& value, const std::string& name, const fs::path& folder) {
  if (name.empty()) refuse(value, "found \"\"; expected the name of a .npy or .csv file");
  if (name.find('\0') != std::string::npos) {
    refuse(value, "found a name with the character \\u0000; no file has one");
  }
  const bool from_command_line = value.place.line == 0;
  const fs::path path = from_command_line ? fs::path(name) : folder / name;
  try {
    MatrixFile opened = open_matrix_file(path);
    return {absolute_text(value, path), std::move(opened.sha256), std::move(opened.matrix)};
  } catch (const MatrixFileError& error) {
    refuse(value, error.what());
  } catch (const std::system_error& error) {
    refuse(value, error.what() + std::string("; expected a .npy or .csv file, its path relative ") +
                      (from_command_line ? "to the working directory" : "to the config"));
  }
}

void expect_contents(const JsonValue& value, const GivenFile& file, const std::string& sha256) {
  if (file.sha256 == sha256) return;
  refuse(value, file.path + " has the SHA-256 " + file.sha256 + "; expected " + sha256 +
                    ": the file is not the one this config was written for; bring that one back, "
                    "or write the path alone to use the file as it is");
}

/// "the keys in k.npy", or "the keys".
std::string name_of(std::string_view key, const GivenMatrix& matrix) {
  return "the " + std::string(key) + (matrix.file ? " in " + matrix.file->path : "");
}

/// All rows of `matrix` must hold `length` numbers; `as` says as what.
void expect_length(const JsonValue& given, std::string_view key, const GivenMatrix& matrix,
                   std::int64_t length, const std::string& as) {
  const JsonValue& value = *given.find(key);
  for (std::int64_t row = 0; row < matrix.row_count(); ++row) {
    if (matrix.columns(row) == length) continue;
    const JsonValue& place = matrix.file ? value : value.items[static_cast<std::size_t>(row)];
    refuse(place, "found a row of " + std::to_string(matrix.columns(row)) + " numbers in " +
                      name_of(key, matrix) + "; expected " + std::to_string(length) + ", as in " +
                      as);
  }
}

void expect_heads(const JsonValue& given, std::string_view key, const GivenMatrix& matrix,
                  const GivenMatrix& queries) {
  if (matrix.heads() == queries.heads()) return;
  refuse(*given.find(key),
         "found " + std::to_string(matrix.heads()) + " heads in " + name_of(key, matrix) +
             "; expected " + std::to_string(queries.heads()) + ", as in " +
             name_of("queries", queries) + ": repeat the heads that queries share");
}

void check_values(const JsonValue& value, const Given& given) {
  if (given.values.empty()) return;
  expect_length(value, "values", given.values, given.values.columns(0), "the first value row");
  expect_heads(value, "values", given.values, given.queries);
  if (given.values.row_count() != given.keys.row_count()) {
    refuse(*value.find("values"),
           "found " + std::to_string(given.values.row_count()) + " rows in " +
               name_of("values", given.values) + "; expected one per key, " +
               std::to_string(given.keys.row_count()) + ", as in " + name_of("keys", given.keys));
  }
}

void check_vectors(const JsonValue& value, const Given& given) {
  for (const std::string_view key : {"queries", "keys"}) {
    if (value.find(key) == nullptr) refuse(value, "the key " + quote(key) + " is missing");
  }
  const std::int64_t d = given.queries.columns(0);
  expect_length(value, "queries", given.queries, d, "the first query");
  expect_length(value, "keys", given.keys, d, name_of("queries", given.queries));
  expect_heads(value, "keys", given.keys, given.queries);
  check_values(value, given);
}

void check_causal(const JsonValue& value, const Given& given) {
  if (!given.causal) return;
  const JsonValue& causal = *value.find("causal");
  if (!given.scores.empty()) {
    for (std::int64_t query = 0; query < query_count(given); ++query) {
      if (given.scores.columns(query) == given.scores.columns(0)) continue;
      refuse(causal,
             "rows of scores that differ in length do not go with \"causal\": they hold "
             "what each query sees already; write \"causal\": false");
    }
  }
  const std::int64_t keys = most_visible_keys(given);
  const std::int64_t queries = query_count(given);
  if (keys < queries) {
    refuse(causal, "found " + std::to_string(keys) + " keys for " + std::to_string(queries) +
                       " queries; with \"causal\" expected at least as many keys as queries, the "
                       "last query seeing all");
  }
}

void check_given(const JsonValue& value, const Given& given) {
  const bool has_vectors = !given.queries.empty() || !given.keys.empty() || !given.values.empty();
  if (given.scores.empty() == !has_vectors || (has_vectors && given.d)) {
    refuse(value,
           "expected either \"scores\" (and \"d\" where a scaling needs it), or \"queries\" "
           "and \"keys\" (and \"values\"), not a mixture");
  }
  if (has_vectors) check_vectors(value, given);
  check_causal(value, given);
}

bool has_file(const Given& given) {
  return std::any_of(kGivenMatrices.begin(), kGivenMatrices.end(),
                     [&](GivenMatrix Given::*matrix) { return (given.*matrix).file.has_value(); });
}

void check_norms(const JsonValue& value, const Experiment& experiment) {
  if (experiment.given->scores.empty()) return;
  const JsonValue* const said = value.find("scalings");
  for (const Scaling& scaling : experiment.scalings) {
    if (!needs_norms(scaling.rule)) continue;
    refuse(said != nullptr ? *said : value,
           "the scaling " + quote(scaling.name) +
               " norms queries and keys, which scores do not tell; write \"queries\" and \"keys\" "
               "inside \"given\" instead of \"scores\"");
  }
}

void check_baseline(const JsonValue& value, const Experiment& experiment) {
  const Given& given = *experiment.given;
  if (!given.baseline) return;
  const JsonValue& baseline = *value.find("given")->find("baseline");
  if (experiment.metrics.empty()) {
    refuse(baseline,
           "without metrics there is nothing to compare; write \"metrics\" beside "
           "\"given\", such as [\"logit_sd\", \"top_weight\"]");
  }
  const auto d = size_of(given);
  if (!d) {
    refuse(baseline,
           "random scores need to know d; write \"d\" beside the scores, such as "
           "{\"scores\": ..., \"d\": 64, \"baseline\": true}");
  }
  if (*d > most_baseline_d() || most_visible_keys(given) > most_baseline_keys()) {
    refuse(baseline, "found " + std::to_string(most_visible_keys(given)) + " keys of " +
                         std::to_string(*d) + " numbers; random ones are drawn for at most " +
                         std::to_string(most_baseline_keys()) + " keys of " +
                         std::to_string(most_baseline_d()));
  }
}

void warn_of_idle_numbers(const JsonValue& value, const Experiment& experiment,
                          std::vector<std::string>& warnings) {
  const Given& given = *experiment.given;
  if (given.weights) return;
  const JsonValue& place = *value.find("given");
  const std::string at = to_text(place.place) + ": " + place.pointer + ": ";
  if (experiment.metrics.empty()) {
    warnings.push_back(at +
                       "nothing is written of these numbers; name \"metrics\" beside "
                       "\"given\", or write \"weights\": true inside it");
  } else if (!given.values.empty()) {
    warnings.push_back(at +
                       "the values are checked, but outputs are written only with "
                       "\"weights\": true");
  }
}

}  // namespace

GivenMatrix read_matrix(const JsonValue& value, const fs::path& folder) {
  if (value.kind == JsonKind::kString) return {{}, open_given_file(value, value.text, folder)};
  if (value.kind == JsonKind::kObject) {
    ConfigDraft draft;
    read_object(value, FieldPlace::kInMatrixFile, draft);
    const MatrixFileDraft& read = draft.matrix_file;
    GivenFile file = open_given_file(*value.find("file"), read.file, folder);
    if (read.sha256) expect_contents(*value.find("sha256"), file, *read.sha256);
    return {{}, std::move(file)};
  }
  return {read_rows(value), std::nullopt};
}

void land_given(const JsonValue& value, const ConfigField&, ConfigDraft& draft) {
  draft.given = {};
  read_object(value, FieldPlace::kInGiven, draft);
  Given given = std::move(draft.given.numbers);
  given.weights = draft.given.weights.value_or(!has_file(given));
  check_given(value, given);
  draft.experiment.given = std::move(given);
}

void check_given_experiment(const JsonValue& value, const Experiment& experiment,
                            std::vector<std::string>& warnings) {
  check_norms(value, experiment);
  check_baseline(value, experiment);
  check_weights(value, experiment);
  warn_of_idle_numbers(value, experiment, warnings);
}

}  // namespace attnscale
