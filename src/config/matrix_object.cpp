#include "config/matrix_object.h"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "config/object.h"
#include "config/schema.h"
#include "config/values.h"
#include "io/matrix_file.h"
#include "io/matrix_file_error.h"

namespace attnscale {
namespace {

namespace fs = std::filesystem;

using FileRow = Row<GivenFile, const GivenFile>;

const std::vector<FileRow>& rows() {
  using enum FieldType;
  using enum FieldUse;
  // Each row stays two or three lines.
  // clang-format off
  static const std::vector<FileRow> table = {
      {{"file", kText, kRequired, "", "Path of a .npy or .csv file."},
       kBothWays<&GivenFile::path>},
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

GivenFile open_given_file(const JsonValue& value, const std::string& name) {
  if (name.empty()) refuse_found(value, "the name of a .npy or .csv file");
  if (name.find('\0') != std::string::npos) {
    refuse(value, "found a name with the character \\u0000, which no file name has");
  }
  const bool from_command_line = value.place.line == 0;
  const fs::path path = value.place.source->folder / name;
  try {
    MatrixFile opened = open_matrix_file(path);
    return {absolute_text(value, path), std::move(opened.sha256), std::move(opened.matrix)};
  } catch (const MatrixFileError& error) {
    refuse(value, error.what());
  } catch (const std::system_error& error) {
    refuse(value, fmt::format("{}; expected a .npy or .csv file, its path relative to the {}",
                              error.what(), from_command_line ? "working directory" : "config"));
  }
}

GivenFile read_matrix_file(const JsonValue& value) {
  GivenFile said;
  read_object(value, rows(), said);
  GivenFile file = open_given_file(*value.find("file"), said.path);
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

void read_into(const JsonValue& value, const Field&, GivenMatrix& matrix) {
  if (value.kind == JsonKind::kString) {
    matrix.file = open_given_file(value, value.text);
  } else if (value.kind == JsonKind::kObject) {
    matrix.file = read_matrix_file(value);
  } else {
    matrix.rows = read_rows(value);
  }
}

std::string json_text(const Field&, const GivenMatrix& matrix) {
  if (matrix.empty()) return "";
  if (matrix.file) return object_text(member_texts(rows(), *matrix.file));
  std::vector<std::string> texts;
  for (const std::vector<double>& row : matrix.rows) texts.push_back(numbers_text(row));
  return list_text(texts);
}

std::string matrix_shape(const Field&) {
  return any_of({schema_of(list_shape(list_shape(R"("type": "number")"))),
                 R"({"type": "string", "minLength": 1})", reference_to("matrix_file")});
}

std::string matrix_file_schema() {
  return object_shape(rows());
}

}  // namespace attnscale
