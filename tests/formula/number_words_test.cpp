#include "formula/number_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace attnscale {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NumberWords, RecogniseInversesAndRoots) {
  EXPECT_THAT(number_words(0.0078125, 128), ElementsAre("1/128", "1/d"));
  EXPECT_THAT(number_words(0.0078125, 64), ElementsAre("1/128"));
  EXPECT_THAT(number_words(0.015625, 64), ElementsAre("1/64", "1/d"));
  EXPECT_THAT(number_words(0.125, 64), ElementsAre("1/8", "1/sqrt(d)"));
  EXPECT_THAT(number_words(1 / std::sqrt(192.0), 192), ElementsAre("1/sqrt(192)", "1/sqrt(d)"));
  EXPECT_THAT(number_words(0.0721688, 192), ElementsAre("1/sqrt(192)", "1/sqrt(d)"));
  EXPECT_THAT(number_words(11.3137085, 128), ElementsAre("sqrt(128)", "sqrt(d)"));
  EXPECT_THAT(number_words(8, 64), ElementsAre("sqrt(d)"));
  EXPECT_THAT(number_words(-0.0625, 16), ElementsAre("-1/16", "-1/d"));
  EXPECT_THAT(number_words(0.5, 4), ElementsAre("1/sqrt(d)"));
}

TEST(NumberWords, LeaveOtherNumbersAlone) {
  for (const double number : {0.0, 1.0, 0.1, 0.43, 0.707, 30.0, 1e-300, 1e300}) {
    EXPECT_THAT(number_words(number, 64), IsEmpty()) << number;
  }
  EXPECT_THAT(number_words(0.0884, 1), IsEmpty());
  EXPECT_THAT(number_words(0.08839, 1), ElementsAre("1/sqrt(128)"));
}

}  // namespace
}  // namespace attnscale
