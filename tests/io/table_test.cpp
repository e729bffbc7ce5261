#include "io/table.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

namespace attnscale {
namespace {

std::uint64_t bits(double number) {
  return std::bit_cast<std::uint64_t>(number);
}

TEST(FormatDouble, IsTheShortestTextAndScientificBelowOneTenth) {
  EXPECT_EQ(format_double(0.1), "0.1");
  EXPECT_EQ(format_double(-0.25), "-0.25");
  EXPECT_EQ(format_double(0.05), "5e-02");
  EXPECT_EQ(format_double(0.09999999999999999), "9.999999999999999e-02");
  EXPECT_EQ(format_double(7.7e-07), "7.7e-07");
  EXPECT_EQ(format_double(-7.7e-07), "-7.7e-07");
  EXPECT_EQ(format_double(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(format_double(16), "16");
}

TEST(FormatDouble, WritesLargeNumbersInTheShorterForm) {
  EXPECT_EQ(format_double(123456789), "123456789");
  EXPECT_EQ(format_double(100000), "1e+05");
  EXPECT_EQ(format_double(1e300), "1e+300");
}

TEST(FormatDouble, WritesZeroPlainlyAndKeepsItsSign) {
  EXPECT_EQ(format_double(0.0), "0");
  EXPECT_EQ(format_double(-0.0), "-0");
}

TEST(FormatDouble, ReadsBackExactly) {
  // Every exponent and random mantissas: all finite doubles are equally likely by their bits.
  std::mt19937_64 engine(20240607);
  for (int i = 0; i < 100000; ++i) {
    const double number = std::bit_cast<double>(engine());
    if (!std::isfinite(number)) continue;
    ASSERT_EQ(bits(std::strtod(format_double(number).c_str(), nullptr)), bits(number));
  }
  for (const double edge :
       {std::numeric_limits<double>::min(), std::numeric_limits<double>::denorm_min(),
        std::numeric_limits<double>::max(), std::nextafter(1.0, 0.0), std::nextafter(0.1, 0.0)}) {
    EXPECT_EQ(bits(std::strtod(format_double(edge).c_str(), nullptr)), bits(edge));
  }
}

TEST(ToCsv, QuotesOnlyWhatMustBeQuoted) {
  const Table table = {{"name", "x"},
                       {{std::string("a b"), 0.5},
                        {std::string("a,b"), std::int64_t{-3}},
                        {std::string("say \"hi\""), std::monostate{}},
                        {std::string("two\nlines"), 0.0}}};
  EXPECT_EQ(to_csv(table), "name,x\na b,0.5\n\"a,b\",-3\n\"say \"\"hi\"\"\",\n\"two\nlines\",0\n");
}

TEST(ToCsv, LeavesWhatIsNotFiniteEmpty) {
  const Table table = {{"x", "y", "z"},
                       {{std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::quiet_NaN(), std::monostate{}}}};
  EXPECT_EQ(to_csv(table), "x,y,z\n,,\n");
}

TEST(ToCsv, RefusesAnEmptyCellInAColumnThatHasNone) {
  const Table table = {{"x", {"y", Empty::kNever}}, {{std::monostate{}, 1.0}}};
  EXPECT_EQ(to_csv(table), "x,y\n,1\n");
  EXPECT_EQ(to_json(table), "[\n{\"x\":null,\"y\":1}\n]\n");
  for (const Value& nothing : {Value(), Value(std::numeric_limits<double>::quiet_NaN())}) {
    EXPECT_THROW(to_csv({table.columns, {{1.0, nothing}}}), std::logic_error);
    EXPECT_THROW(to_json({table.columns, {{1.0, nothing}}}), std::logic_error);
  }
}

TEST(ToCsv, WritesTheHeaderOfAnEmptyTable) {
  EXPECT_EQ(to_csv({{"a", "b"}, {}}), "a,b\n");
}

TEST(ToCsv, WritesIntegersBeyondTheDoublesExactly) {
  EXPECT_EQ(to_csv({{"n"}, {{std::int64_t{9007199254740993}}}}), "n\n9007199254740993\n");
}

TEST(ToJson, WritesOneFlatObjectPerLine) {
  const Table table = {
      {"run", "d", "estimate"},
      {{std::string("a"), std::int64_t{9007199254740993}, 7.7e-07},
       {std::string("b"), std::monostate{}, std::numeric_limits<double>::quiet_NaN()}}};
  EXPECT_EQ(to_json(table),
            "[\n{\"run\":\"a\",\"d\":9007199254740993,\"estimate\":7.7e-07},\n"
            "{\"run\":\"b\",\"d\":null,\"estimate\":null}\n]\n");
}

TEST(ToJson, WritesAnEmptyArrayForNoRows) {
  EXPECT_EQ(to_json({{"a"}, {}}), "[]\n");
}

TEST(ToJson, EscapesTexts) {
  EXPECT_EQ(to_json({{"s\""}, {{std::string("a\\b")}}}), "[\n{\"s\\\"\":\"a\\\\b\"}\n]\n");
}

}  // namespace
}  // namespace attnscale
