// The rows of the config's table that tell of given numbers.
#include "config/config_fields.h"
#include "config/config_landing.h"

namespace attnscale {

std::vector<ConfigField> given_fields() {
  using enum FieldPlace;
  using enum FieldType;
  using enum FieldUse;
  constexpr double kLargestD = 1e15;
  // clang-format off: a row of the table stays two or three lines.
  return {
      {kInGiven, "scores", kMatrix, kOptional, "", into_matrix<&Given::scores>,
       "One row of scores per query."},
      {kInGiven,
       "d",
       kInteger,
       kOptional,
       "",
       into_numbers<&Given::d>,
       "Head size behind the scores, where a scaling needs it.",
       {1, kLargestD}},
      {kInGiven, "queries", kMatrix, kOptional, "", into_matrix<&Given::queries>,
       "One row of d numbers per query."},
      {kInGiven, "keys", kMatrix, kOptional, "", into_matrix<&Given::keys>,
       "One row of d numbers per key."},
      {kInGiven, "values", kMatrix, kOptional, "", into_matrix<&Given::values>,
       "One row per key: what it passes on."},
      {kInGiven, "causal", kBoolean, kOptional, "false", into_numbers<&Given::causal>,
       "Query i sees the keys up to i + keys - queries, so that the last query sees all."},
      {kInGiven, "weights", kBoolean, kOptional, "", into_given<&GivenDraft::weights>,
       "Whether weights and outputs are written; by default only where no number is in a file."},
      {kInGiven, "baseline", kBoolean, kOptional, "false", into_numbers<&Given::baseline>,
       "Measures random queries and keys too, normal entries of mean 0 and spread 1: "
       "baselines.csv."},

      {kInMatrixFile, "file", kText, kRequired, "", into_matrix_file<&MatrixFileDraft::file>,
       "Path of a .npy or .csv file."},
      {kInMatrixFile, "sha256", kText, kOptional, "", into_matrix_file<&MatrixFileDraft::sha256>,
       "SHA-256 of the file in hexadecimal; another file is refused."},
  };
  // clang-format on
}

}  // namespace attnscale
