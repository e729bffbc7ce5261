#include "io/csv_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <system_error>

#include "io/table.h"
#include "support/scratch_folder.h"

namespace attnscale {
namespace {

using testing::ElementsAre;

std::string error_of(std::string_view text) {
  try {
    parse_csv(text, "run/x.csv");
    return "no error";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(ParseCsv, ReadsHeaderAndRecordsWithTheirLines) {
  const CsvFile file = parse_csv("a,b\n1,\n,\"x\"\n", "x.csv");
  EXPECT_THAT(file.columns, ElementsAre("a", "b"));
  ASSERT_EQ(file.records.size(), 2u);
  EXPECT_THAT(file.records[0].fields, ElementsAre("1", ""));
  EXPECT_THAT(file.records[1].fields, ElementsAre("", "x"));
  EXPECT_EQ(file.records[0].line, 2u);
  EXPECT_EQ(file.records[1].line, 3u);
}

// RFC 4180, section 2, rules 5 to 7.
TEST(ParseCsv, ReadsQuotedFields) {
  const CsvFile file = parse_csv("a,b\n\"x,\"\"y\"\"\",\"one\ntwo\"\nlast,\"\"\n", "x.csv");
  ASSERT_EQ(file.records.size(), 2u);
  EXPECT_THAT(file.records[0].fields, ElementsAre("x,\"y\"", "one\ntwo"));
  EXPECT_THAT(file.records[1].fields, ElementsAre("last", ""));
  EXPECT_EQ(file.records[1].line, 4u);
}

TEST(ParseCsv, ReadsLinesThatEndWithCarriageReturns) {
  const CsvFile file = parse_csv("a,b\r\n1,\"2\"\r\n", "x.csv");
  ASSERT_EQ(file.records.size(), 1u);
  EXPECT_THAT(file.records[0].fields, ElementsAre("1", "2"));
}

TEST(ParseCsv, ReadsAHeaderAlone) {
  EXPECT_TRUE(parse_csv("a,b\n", "x.csv").records.empty());
}

TEST(ParseCsv, NamesFileAndLineOfDamage) {
  EXPECT_EQ(error_of(""), "run/x.csv:1: the file is empty: there is no header");
  EXPECT_EQ(error_of("a,b\n1,2"),
            "run/x.csv:2: the last line has no line end: the file was cut off");
  EXPECT_EQ(error_of("a,b\n1,2\n3\n"), "run/x.csv:3: 1 fields where the header has 2");
  EXPECT_EQ(error_of("a,b\n1,2,3\n"), "run/x.csv:2: 3 fields where the header has 2");
  EXPECT_EQ(error_of("a,b\n1,\"2\n3,4\n"), "run/x.csv:2: a field has no closing quote");
  EXPECT_EQ(error_of("a,b\n1,\"2\"3\n"), "run/x.csv:2: text after the closing quote of a field");
  EXPECT_THAT(error_of("a,b\n1,2\"3\"\n"), testing::StartsWith("run/x.csv:2: a quote"));
}

TEST(ParseCsv, ReadsWhatToCsvWrites) {
  const Table table = {{"plain", "odd, \"name\""},
                       {{std::string("a,b\n\"c\""), std::string("\r\n")}}};
  const CsvFile file = parse_csv(to_csv(table), "x.csv");
  EXPECT_THAT(file.columns, ElementsAre("plain", "odd, \"name\""));
  ASSERT_EQ(file.records.size(), 1u);
  EXPECT_THAT(file.records[0].fields, ElementsAre("a,b\n\"c\"", "\r\n"));
}

TEST(ReadCsv, NamesAFileThatIsNotThere) {
  const ScratchFolder folder;
  try {
    read_csv(folder / "absent.csv");
    FAIL() << "no error";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("absent.csv: No such file or directory"));
  }
}

}  // namespace
}  // namespace attnscale
