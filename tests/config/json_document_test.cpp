#include "config/json_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscale {
namespace {

TEST(JsonDocument, KnowsPlaceAndPointerOfEveryValue) {
  const JsonValue root =
      read_json("{\"a/b\": [1,\n  {\"~\": -2.5e1}], // note\n \"t\": \"x\\ty\"}", {"f"});
  const JsonValue& inner = root.members[0].value.items[1].members[0].value;
  EXPECT_EQ(to_text(inner.place), "f:2:9");
  EXPECT_EQ(inner.pointer, "/a~1b/1/~0");
  EXPECT_EQ(inner.number, -25);
  EXPECT_EQ(inner.text, "-2.5e1");
  const JsonValue* text = root.find("t");
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(to_text(text->place), "f:3:7");
  EXPECT_EQ(text->text, "x\ty");
  EXPECT_EQ(to_text(root.members[1].place), "f:3:2");
  EXPECT_EQ(root.find("u"), nullptr);
}

TEST(JsonDocument, ReadsEveryKindOfValue) {
  const JsonValue root = read_json("[null, true, false, 0, -0.5, \"\", [], {}]", {"f"});
  const JsonKind kinds[] = {JsonKind::kNull,   JsonKind::kBoolean, JsonKind::kBoolean,
                            JsonKind::kNumber, JsonKind::kNumber,  JsonKind::kString,
                            JsonKind::kArray,  JsonKind::kObject};
  ASSERT_EQ(root.items.size(), std::size(kinds));
  for (std::size_t i = 0; i < root.items.size(); ++i) EXPECT_EQ(root.items[i].kind, kinds[i]) << i;
  EXPECT_TRUE(root.items[1].boolean);
  EXPECT_FALSE(root.items[2].boolean);
}

TEST(JsonDocument, QuotesWhatReadsBackTheSame) {
  const std::string text = "a\"\\/\n\t\x01\x7F \xC3\xA9";
  EXPECT_EQ(read_json(quote(text), {"f"}).text, text);
}

TEST(JsonDocument, TellsSyntaxErrorsFromDuplicateKeys) {
  EXPECT_THROW(read_json("[1", {"f"}), JsonSyntaxError);
  try {
    read_json("{\"a\": 1, \"a\": 2}", {"f"});
    FAIL();
  } catch (const JsonSyntaxError&) {
    FAIL() << "a duplicate key is JSON";
  } catch (const UserError&) {
  }
}

TEST(JsonDocument, CutsLongTextsBetweenCharacters) {
  std::string text = "a";
  for (int i = 0; i < 40; ++i) text += "\xC3\xA9";
  JsonValue value;
  value.kind = JsonKind::kString;
  value.text = text;
  EXPECT_EQ(describe(value), quote(text.substr(0, 59)) + "...");
}

std::string message_of(const std::string& text) {
  try {
    read_json(text, {"f"});
  } catch (const UserError& error) {
    return error.what();
  }
  return {};
}

TEST(JsonDocument, CutsLongKeysInMessages) {
  const std::string key(100'000, 'k');
  const std::string message = message_of("{\"" + key + "\": 1, \"" + key + "\": 2}");
  EXPECT_THAT(message, ::testing::HasSubstr("duplicate key \"kkk"));
  EXPECT_LT(message.size(), 1000U);
}

TEST(JsonDocument, FindsTheFirstOfADuplicateKeyInEachObject) {
  EXPECT_EQ(message_of("{\"a\": {\"b\": 1},\n\"b\": {\"a\": 1},\n\"a\": 2}"),
            "f:3:1: /a: duplicate key \"a\", which line 1 has already; keep one of them");
}

}  // namespace
}  // namespace attnscale
