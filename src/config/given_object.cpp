#include "config/given_object.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

#include "config/given_checks.h"
#include "config/schema.h"
#include "config/values.h"
#include "io/matrix_file.h"
#include "io/sha256.h"

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

void read_all(const JsonValue& value, const MatrixFile& opened, const TensorReading& reading,
              GivenFile& file) {
  try {
    expect_finite(opened.matrix, opened.tensor, reading);
  } catch (const MatrixFileError& error) {
    refuse(value, error.what());
  }
  file.sha256 = sha256_hex(opened.file.text());
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
    const TensorName tensor = tensor_name(path.string());
    const MatrixFile opened = open_matrix_file(tensor, reading);
    return {absolute_text(value, path),
            "",
            opened.matrix,
            tensor.tensor,
            opened.tensor.holds_bits,
            [&value, opened, reading](GivenFile& file) { read_all(value, opened, reading, file); }};
  } catch (const MatrixFileError& error) {
    refuse(value, error.what());
  } catch (const std::system_error& error) {
    refuse(value,
           fmt::format(
               "{}; expected a .safetensors, .npz, .npy or .csv file, its path relative to the {}",
               error.what(), from_command_line ? "working directory" : "config"));
  }
}

// A SHA-256 as this program writes it: in small letters.
std::string read_sha256(const JsonValue& value, std::string text) {
  constexpr std::size_t kDigits = 64;
  const auto is_digit = [](unsigned char c) { return std::isxdigit(c) != 0; };
  if (text.size() != kDigits || !std::ranges::all_of(text, is_digit)) {
    refuse_found(value, "a SHA-256, 64 hexadecimal digits, as sha256sum prints it");
  }
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

GivenFile read_matrix_file(const JsonValue& value, const TensorReading& reading) {
  GivenFile said;
  read_object(value, file_rows(), said);
  const JsonValue* sha256 = value.find("sha256");
  if (sha256 != nullptr) said.sha256 = read_sha256(*sha256, said.sha256);
  GivenFile file = open_given_file(*value.find("file"), said.path, reading);
  if (sha256 == nullptr) return file;
  // Another file is told as that, whatever its sizes are.
  std::exchange(file.read_all, nullptr)(file);
  if (said.sha256 != file.sha256) {
    refuse(*sha256,
           fmt::format("{} has the SHA-256 {}; expected {}: it is not the file that this config "
                       "was written for; bring that one back, or write the path alone to use the "
                       "file as it is",
                       file.path, file.sha256, said.sha256));
  }
  return file;
}

// After the keys that say how files are read.
template <GivenMatrix Given::*member>
void read_matrix(const JsonValue& value, const Field& field, Given& given) {
  GivenMatrix& matrix = given.*member;
  TensorReading reading{.dtype = given.dtype};
  const bool is_of_keys = field.name == "scores" || field.name == "mask" || field.name == "bias";
  if (!is_of_keys) reading.layout = given.layout;
  reading.hides_keys = is_of_keys;
  reading.takes_truth = field.name == "mask";
  if (value.kind == JsonKind::kString) {
    matrix.file = open_given_file(value, value.text, reading);
  } else if (value.kind == JsonKind::kObject) {
    matrix.file = read_matrix_file(value, reading);
  } else {
    matrix.rows = read_rows(value);
  }
}

std::string matrix_shape(const Field&) {
  return any_of({schema_of(list_shape(list_shape(R"("type": "number")"))),
                 R"({"type": "string", "minLength": 1})", reference_to("matrix_file")});
}

template <GivenMatrix Given::*member>
std::string matrix_text(const Field&, const Given& given) {
  const GivenMatrix& matrix = given.*member;
  if (matrix.empty()) return "";
  if (matrix.file) return object_text(member_texts(file_rows(), *matrix.file));
  return list_text(matrix.rows, numbers_text);
}

template <GivenMatrix Given::*member>
constexpr Access<Given, const Given> kMatrix{read_matrix<member>, matrix_text<member>,
                                             matrix_shape};

// All but that of masks.
std::vector<std::string_view> dtype_names() {
  std::vector<std::string_view> names = row_names<number_formats>();
  names.pop_back();
  return names;
}

constexpr std::array<std::string_view, 2> kBaselineNames = {"normal", "matched"};

// true is both, as far as there are entries to match: see complete_given.
void read_baseline(const JsonValue& value, const Field& field, Given& given) {
  if (value.kind == JsonKind::kString) {
    const bool matched = read_choice_place(value, field) == 1;
    given.baseline = {!matched, matched};
  } else if (value.kind == JsonKind::kBoolean) {
    const bool both = read_boolean(value);
    given.baseline = {both, both};
  } else {
    refuse_found(value, "true, false, \"normal\" or \"matched\"");
  }
}

std::string baseline_text(const Field&, const Given& given) {
  const auto& [normal, matched] = given.baseline;
  if (normal == matched) return normal ? "true" : "false";
  return quote(kBaselineNames[matched ? 1 : 0]);
}

std::string baseline_shape(const Field& field) {
  return any_of({R"({"type": "boolean"})", schema_of(names_shape(field.choices.names()))});
}

using GivenRow = Row<Given, const Given>;

const std::vector<GivenRow>& given_rows() {
  using enum FieldType;
  using enum FieldUse;
  static constexpr double kLargestD = 1e15;
  // Each row stays two or three lines.
  // clang-format off
  static const std::vector<GivenRow> table = {
      // Before the files, which are read so.
      {{"layout", kChoice, kOptional, R"("heads_first")",
        "Axes of queries, keys and values in files: rows_first for (batch, rows, heads, d).", {},
        {"layout", listed_names<kLayoutNames>}}, kBothWays<&Given::layout>},
      {{"dtype", kChoice, kOptional, "",
        "What the bits of files are whose own type does not say it, such as bfloat16 in |V2.", {},
        {"type", dtype_names}}, kBothWays<&Given::dtype>},
      {{"scores", kOwn, kOptional, "", "One row of scores per query."},
        kMatrix<&Given::scores>},
      {{"d", kInteger, kOptional, "", "Head size of the given scores, if a scaling needs it.",
        {1, kLargestD}}, kBothWays<&Given::d>},
      {{"queries", kOwn, kOptional, "", "One row of d numbers per query."},
        kMatrix<&Given::queries>},
      {{"keys", kOwn, kOptional, "", "One row of d numbers per key."},
        kMatrix<&Given::keys>},
      {{"values", kOwn, kOptional, "", "One row per key: what it passes on."},
        kMatrix<&Given::values>},
      {{"causal", kBoolean, kOptional, "false",
        "Query i sees the keys up to i + keys - queries, so that the last query sees all."},
        kBothWays<&Given::causal>},
      {{"window", kInteger, kOptional, "",
        "Query i sees the keys j with |i - j| < window, as far as they are visible otherwise.",
        {1, kLargestD}}, kBothWays<&Given::window>},
      {{"mask", kOwn, kOptional, "",
        "Which keys each query sees: 1 or true sees, 0 or false hides; or 0 sees, -inf hides."},
        kMatrix<&Given::mask>},
      {{"bias", kOwn, kOptional, "",
        "What is added to each logit, after the scaling; -inf hides the key."},
        kMatrix<&Given::bias>},
      {{"masked_below", kNumber, kOptional, "",
        "Scores, masks and biases of at most this hide their keys, such as -1e4.",
        {-kAnyNumber, kAnyNumber}}, kBothWays<&Given::masked_below>},
      {{"weights", kBoolean, kOptional, "",
        "Whether weights and outputs are written; by default only if no matrix is a file."},
        kBothWays<&Given::weights>},
      {{"baseline", kOwn, kOptional, "false",
        "Measures random queries and keys too, baselines.csv: normal entries of mean 0 and spread 1, "
        "those matched to the mean and spread of each head, or both.", {},
        {"baseline", listed_names<kBaselineNames>}}, {read_baseline, baseline_text, baseline_shape}},
  };
  // clang-format on
  return table;
}

}  // namespace

void read_into(const JsonValue& value, const Field&, Given& given) {
  read_object(value, given_rows(), given);
  const auto is_file = [&](GivenMatrix Given::*matrix) { return (given.*matrix).file.has_value(); };
  if (value.find("weights") == nullptr)
    given.weights = std::ranges::none_of(kGivenMatrices, is_file);
  check_sizes(value, given);
  for (const auto matrix : kGivenMatrices) {
    std::optional<GivenFile>& file = (given.*matrix).file;
    if (file && file->read_all) std::exchange(file->read_all, nullptr)(*file);
  }
  complete_given(value, given);
}

std::string json_text(const Field&, const Given& given) {
  // d first, as rows may be long.
  std::vector<std::string> members;
  if (given.d) members.push_back(member_text("d", std::to_string(*given.d)));
  for (const GivenRow& row : given_rows()) {
    if (row.field.name != "d") add_member(row, given, members);
  }
  return object_in_lines(members, "      ");
}

std::vector<std::string_view> given_keys() {
  return names_of(given_rows());
}

std::string given_schema() {
  return object_shape(given_rows()) + R"(, "oneOf": [
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
