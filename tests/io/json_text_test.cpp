#include "io/json_text.h"

#include <gtest/gtest.h>

namespace attnscale {
namespace {

TEST(Quote, EscapesWhatJsonAsksFor) {
  EXPECT_EQ(quote("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(quote("tab\tline\n\r\x7f"), "\"tab\\tline\\n\\u000d\\u007f\"");
}

TEST(Quote, LeavesUtf8AsItIs) {
  EXPECT_EQ(quote("\xc2\xb1 \xe2\x88\x9a"), "\"\xc2\xb1 \xe2\x88\x9a\"");
}

}  // namespace
}  // namespace attnscale
