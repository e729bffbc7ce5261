// Moments of clipped entries: values of 30 digits' arithmetic (mpmath 1.2, powers of the clipped
// entry integrated by quad over each law's density, atoms added), rounded to 16 digits.
#include "draw/entry_moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attnscale {
namespace {

struct ClippedCase {
  Law law;  // mean, sd, clip last
  double mean;
  double sd;
  double third;
  double fourth;
};

const std::vector<ClippedCase>& cases() {
  static const std::vector<ClippedCase> all{
      // clang-format off
      {{find_law("normal"), {}, 0, 1, 1}, 0, 0.7183721535260909, 0, 1.613168182353464},
      {{find_law("normal"), {}, 0, 4, 8}, 0, 3.837784622693302, 0, 2.454313490641901},
      {{find_law("normal"), {}, 0.5, 1, 1}, 0.3315102363612986, 0.6733557679336902, -0.6375177315592557, 2.092578930645019},
      {{find_law("normal"), {}, 2, 0.5, 1}, 0.9957546487697637, 0.03773802255996613, -12.32262124662285, 192.1573484901788},
      {{find_law("uniform"), {}, 0, 1, 1}, 0, 0.7842829977375829, 0, 1.42228869830424},
      {{find_law("uniform"), {}, 0, 4, 8}, 0, 4, 0, 1.8},
      {{find_law("uniform"), {}, 0.5, 1, 1}, 0.2886751345948129, 0.7292232080830369, -0.5051993396615101, 1.738138062872147},
      {{find_law("rademacher"), {}, 0, 1, 1}, 0, 1, 0, 1},
      {{find_law("rademacher"), {}, 0, 4, 8}, 0, 4, 0, 1},
      {{find_law("rademacher"), {}, 0.5, 1, 1}, 0.25, 0.75, 0, 1},
      {{find_law("laplace"), {}, 0, 1, 1}, 0, 0.642700772124215, 0, 1.946097951662599},
      {{find_law("laplace"), {}, 0, 4, 8}, 0, 3.51844955998254, 0, 3.151077605457419},
      {{find_law("laplace"), {}, 0.5, 1, 1}, 0.368055486377445, 0.6120856025837964, -0.8285183323919754, 2.66722658894367},
      {{find_law("laplace"), {}, 2, 0.5, 1}, 0.989587983237249, 0.08430889879278873, -11.66921364432506, 173.0126350014287},
      {{find_law("logistic"), {}, 0, 1, 1}, 0, 0.69010504448896, 0, 1.710400925666178},
      {{find_law("logistic"), {}, 0, 4, 8}, 0, 3.692568996189297, 0, 2.698808748553035},
      {{find_law("logistic"), {}, 0.5, 1, 1}, 0.3481575349579668, 0.6486906100697113, -0.69254120116438, 2.267041088817205},
      {{find_law("logistic"), {}, 2, 0.5, 1}, 0.9927737194839464, 0.06274834824017544, -12.80010393981001, 214.7597443292213},
      {{find_law("student_t"), {2.5}, 0, 1, 1}, 0, 0.5386762086426728, 0, 2.42858518971473},
      {{find_law("student_t"), {2.5}, 0, 4, 8}, 0, 2.736925146638774, 0, 4.419255468475416},
      {{find_law("student_t"), {2.5}, 0.5, 1, 1}, 0.4229415059574939, 0.5087308346828295, -0.9413274104643072, 3.463907755622734},
      {{find_law("student_t"), {2.5}, 2, 0.5, 1}, 0.9913804890908267, 0.09996369334302957, -15.25442761656645, 263.0850642042084},
      {{find_law("student_t"), {5}, 0, 1, 1}, 0, 0.6698291607404144, 0, 1.781833237097922},
      {{find_law("student_t"), {5}, 0, 4, 8}, 0, 3.55052162811088, 0, 2.874040276994788},
      {{find_law("student_t"), {5}, 0.5, 1, 1}, 0.360674827417634, 0.6290673111972221, -0.7242227025868022, 2.391559824775352},
      {{find_law("student_t"), {5}, 2, 0.5, 1}, 0.9911292795106014, 0.08277750011613742, -13.9827791363795, 245.2169426292862},
      {{find_law("truncated_normal"), {2}, 0, 1, 1}, 0, 0.7381050907949759, 0, 1.554557787620756},
      {{find_law("truncated_normal"), {2}, 0, 4, 8}, 0, 3.963248143730503, 0, 2.288611440176754},
      {{find_law("truncated_normal"), {2}, 0.5, 1, 1}, 0.3173892032436619, 0.6930603415934918, -0.6053751012358489, 1.986908829571524},
      {{find_law("truncated_normal"), {2}, 2, 0.5, 1}, 0.998904779542899, 0.009736439766619498, -10.08006742408415, 110.6537649745737},
      {{find_law("truncated_normal"), {0.5}, 0, 1, 1}, 0, 0.7802617128883103, 0, 1.433401270606187},
      {{find_law("truncated_normal"), {0.5}, 0, 4, 8}, 0, 4, 0, 1.834559593013456},
      {{find_law("truncated_normal"), {0.5}, 0.5, 1, 1}, 0.2908807985865674, 0.7266741622672283, -0.5150244399010794, 1.759426904569199},
      {{find_law("sparse"), {0.25}, 0, 1, 1}, 0, 0.4302654589282298, 0, 5.033730650033205},
      {{find_law("sparse"), {0.25}, 0, 4, 8}, 0, 2.873488614104363, 0, 6.452672729413856},
      {{find_law("sparse"), {0.25}, 0.5, 1, 1}, 0.4224111098242866, 0.4428290578398697, -2.121670277512257, 7.571753903819966},
      {{find_law("sparse"), {0.25}, 2, 0.5, 1}, 0.9792666709323404, 0.1340599187473473, -8.386510763833599, 84.63549290897205},
      {{find_law("outlier"), {0.001, 10}, 0, 1, 1}, 0, 0.7052472268363165, 0, 1.651641807989307},
      {{find_law("outlier"), {0.001, 10}, 0, 4, 8}, 0, 3.697119816161308, 0, 2.525522339023432},
      {{find_law("outlier"), {0.001, 10}, 0.5, 1, 1}, 0.3417859696074711, 0.6582537873401649, -0.6515845363694571, 2.155699731837721},
      {{find_law("outlier"), {0.001, 10}, 2, 0.5, 1}, 0.996220549860289, 0.04712145517766806, -26.92421327856121, 993.8010535314579},
      {{find_law("ternary"), {0.25}, 0, 1, 1}, 0, 0.5, 0, 4},
      {{find_law("ternary"), {0.25}, 0, 4, 8}, 0, 4, 0, 4},
      {{find_law("ternary"), {0.25}, 0.5, 1, 1}, 0.375, 0.5448623679425842, -1.81117684634654, 5.28808864265928},
      // clang-format on
  };
  return all;
}

TEST(EntryMoments, AreThoseOfTheClippedLaw) {
  for (const auto& [law, mean, sd, third, fourth] : cases()) {
    SCOPED_TRACE(std::string(law.row->name) + " " + std::to_string(law.mean));
    const EntryMoments found = entry_moments(law, 4);
    EXPECT_NEAR(found.mean, mean, 1e-14);
    EXPECT_NEAR(found.sd / sd, 1, 1e-13);
    EXPECT_EQ(found.standardised[0], 1);
    EXPECT_EQ(found.standardised[1], 0);
    EXPECT_NEAR(found.standardised[2], 1, 1e-13);
    EXPECT_NEAR(found.standardised[3], third, 1e-12 * (1 + std::abs(third)));
    EXPECT_NEAR(found.standardised[4] / fourth, 1, 1e-12);
  }
}

// A mirrored law has the mean and the odd moments of other sign.
TEST(EntryMoments, OfOtherSignOfTheMean) {
  for (const ClippedCase& one : cases()) {
    Law law = one.law;
    law.mean = -law.mean;
    const EntryMoments found = entry_moments(law, 4);
    EXPECT_NEAR(found.mean, -one.mean, 1e-14);
    EXPECT_NEAR(found.standardised[3], -one.third, 1e-12 * (1 + std::abs(one.third)));
    EXPECT_NEAR(found.standardised[4] / one.fourth, 1, 1e-12);
  }
}

// Of 24 normal numbers' product 1 3 5 ... 23, of which a clip at 40 spreads takes nothing.
TEST(EntryMoments, OfAClipThatNothingReachesAreTheLaws) {
  for (const char* name : {"normal", "uniform", "rademacher", "laplace", "logistic"}) {
    const Law whole{find_law(name), {}, 0, 2};
    Law clipped = whole;
    clipped.clip = 400;
    const EntryMoments expected = entry_moments(whole, 24);
    const EntryMoments found = entry_moments(clipped, 24);
    EXPECT_EQ(expected.sd, 2);
    EXPECT_NEAR(found.sd / 2, 1, 1e-13) << name;
    for (const std::size_t order : {2U, 4U, 12U, 24U}) {
      EXPECT_NEAR(found.standardised[order] / expected.standardised[order], 1, 1e-12)
          << name << " " << order;
    }
  }
}

// Of Student's t without a fourth moment a clip leaves all, and none grows beyond bounds.
TEST(EntryMoments, ExistWhereEntriesAreClipped) {
  const Law heavy{find_law("student_t"), {2.5}, 0, 1};
  EXPECT_EQ(entry_moments(heavy, 4).standardised[4], std::numeric_limits<double>::infinity());
  Law clipped = heavy;
  clipped.clip = 1000;
  const EntryMoments found = entry_moments(clipped, 4);
  EXPECT_LT(found.sd, 1);
  EXPECT_GT(found.standardised[4], 10);
  EXPECT_LT(found.standardised[4], 1e6);
}

TEST(EntryMoments, SayWhereNothingIsLeft) {
  EXPECT_EQ(entry_moments({find_law("uniform"), {}, 5, 0.1, 1}, 0).sd, 0);
  EXPECT_EQ(entry_moments({find_law("uniform"), {}, 5, 0.1, 1}, 0).mean, 1);
}

}  // namespace
}  // namespace attnscale
