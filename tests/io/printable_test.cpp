#include "io/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace attnscale {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  const std::string text = "a line\n\tand \xC3\xA9, \xE2\x82\xAC, \xF0\x9F\x99\x82 \xC2\xA0~\n";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, SpellsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("\x1b[31mred\r\b\x07\x7f"), "\\u001b[31mred\\u000d\\u0008\\u0007\\u007f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\u0000b");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\u009b31m");  // the one-character form of ESC [
}

TEST(Printable, SpellsMarksThatTurnTextOrThatNobodySees) {
  EXPECT_EQ(printable("a\u202Evsc.q"), "a\\u202evsc.q");
  EXPECT_EQ(printable("\u200E\u200F\u061C\u2066\u2069"), "\\u200e\\u200f\\u061c\\u2066\\u2069");
  EXPECT_EQ(printable("\u2028\u2029\u200B\u2060\uFEFF\u00AD"),
            "\\u2028\\u2029\\u200b\\u2060\\ufeff\\u00ad");
  const std::string joined = "\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645 \u2010 \u2030";
  EXPECT_EQ(printable(joined), joined);
}

TEST(Printable, SpellsBytesThatAreNoText) {
  EXPECT_EQ(printable("\x9b\xff"), "\\x9b\\xff");
  EXPECT_EQ(printable("\xC3"), "\\xc3");                             // cut off
  EXPECT_EQ(printable("\xE2\x82."), "\\xe2\\x82.");                  // cut off
  EXPECT_EQ(printable("\xC0\x9B"), "\\xc0\\x9b");                    // longer than it need be
  EXPECT_EQ(printable("\xF5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");  // beyond Unicode
}

// Every byte alone: none that a terminal obeys is left.
TEST(Printable, LeavesNoControlByte) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    for (const char c : printable(text + "x")) {
      const auto shown = static_cast<unsigned char>(c);
      EXPECT_TRUE(shown == '\n' || shown == '\t' || (shown >= 0x20 && shown < 0x7F)) << byte;
    }
  }
}

}  // namespace
}  // namespace attnscale
