// What an audit says of numbers. Expected factors follow from the sizes by the formulas of the
// names.
#include "app/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace attnscale {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Answer of(ModelSizes sizes, double measured_sd) {
  AuditCommand command;
  command.sizes = std::move(sizes);
  command.measured_sd = measured_sd;
  return audit(command, 100);
}

TEST(Audit, MergesTwinsInTheOrderOfTheTable) {
  const Answer answer = of({.d = 64}, 0.125);
  EXPECT_THAT(answer.text, StartsWith("Scaled twice"));
  EXPECT_THAT(answer.text, HasSubstr("; or divided by d, as muP does on purpose"));
  EXPECT_EQ(answer.code, ExitCode::kDone);
}

TEST(Audit, HasNoTwinOfTheRightAnswerFromASizeThatIsD) {
  const Answer answer = of({.d = 128, .value_d = 128}, 1);
  EXPECT_THAT(answer.text, StartsWith("As 1/sqrt(d) would give.\n"));
  EXPECT_THAT(answer.text, Not(HasSubstr("value_d")));
}

TEST(Audit, SaysTheQuotientOnlyWhereItIsTheHeadSize) {
  EXPECT_THAT(of({.d = 64, .d_model = 768, .heads = 12}, 1).text,
              HasSubstr("The head size 64 (768 over 12 heads), not the model's width 768"));
  const Answer apart = of({.d = 128, .d_model = 1024, .heads = 16}, std::sqrt(2.0));
  EXPECT_THAT(apart.text, StartsWith("Root of width over heads"));
  EXPECT_THAT(apart.text, Not(HasSubstr("over 16 heads)")));
}

TEST(Audit, SaysWhereNothingFits) {
  const Answer answer = of({.d = 64}, 1.31);
  EXPECT_THAT(answer.text, StartsWith("No usual mistake explains it"));
  EXPECT_EQ(answer.code, ExitCode::kMismatch);
}

TEST(Audit, ComparesWithWhatIsMeant) {
  AuditCommand command;
  command.sizes.d = 192;
  command.measured_sd = 1;
  command.like = "deepseek_v2_lite";
  const Answer answer = audit(command, 100);
  EXPECT_THAT(answer.text, StartsWith("M^2 missing"));
  // 1 / 1.589626, YaRN's m^2 of a factor 40 and mscale 0.707.
  EXPECT_THAT(answer.text, HasSubstr("0.6291 of deepseek_v2_lite, which is 1.5896 times it"));
  EXPECT_EQ(answer.code, ExitCode::kMismatch);
}

TEST(Audit, TakesAFactorOfZero) {
  AuditCommand command;
  command.sizes.d = 64;
  command.factor = 0;
  EXPECT_THAT(audit(command, 100).text, StartsWith("A factor of 0"));
}

}  // namespace
}  // namespace attnscale
