#include "report/lesson_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/report_rows.h"

namespace attnscale {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(LessonAnswers, AnswersTheLessonsFourQuestions) {
  const Results run = lesson_run();
  EXPECT_THAT(
      lesson_answers(run.rows, run.crossings),
      ElementsAre("1 raw spread sqrt(d) = 2 8 32 (exact; measured 2.00 8.03 31.94); after the "
                  "division 1 (exact; measured 0.998 to 1.004)",
                  "2 unscaled, one key gets more than 0.9 of the weight: on average from d = 101, "
                  "for half the queries from d = 33",
                  "3 p(1-p) of a typical query at d = 1024: 7.7e-07 unscaled, 0.221 divided by "
                  "sqrt(d)",
                  "4 divided by d at d = 1024: top weight 0.131; equal weights would be 1/8 = "
                  "0.125"));
}

TEST(LessonAnswers, SaysWhereACrossingLiesOutsideTheGrid) {
  const Results run = lesson_run();
  const std::vector<CrossingRow> crossings = {
      crossing_row("mean", 0.9, std::nullopt, CrossingStatus::kNotReached),
      crossing_row("median", 0.9, std::nullopt, CrossingStatus::kBelow)};
  EXPECT_THAT(lesson_answers(run.rows, crossings)[1],
              HasSubstr("on average not reached by d = 1024, for half the queries from below "
                        "d = 4"));
}

TEST(LessonAnswers, SaysTheExactCrossingBesideTheMeasuredOneInTheGridAndOutOfIt) {
  const Results run = lesson_run();
  const auto answer = [&](std::optional<double> d, CrossingStatus status) {
    CrossingRow crossing = crossing_row("mean", 0.9, d, status);
    crossing.d_exact = 99.5814;
    return lesson_answers(run.rows, {&crossing, 1})[1];
  };
  EXPECT_THAT(answer(101.3, CrossingStatus::kOk),
              HasSubstr("on average from d = 99.58 (exact; measured from d = 101)"));
  EXPECT_THAT(answer({}, CrossingStatus::kBelow),
              HasSubstr("from d = 99.58 (exact; measured from below d = 4)"));
  EXPECT_THAT(answer({}, CrossingStatus::kNotReached),
              HasSubstr("from d = 99.58 (exact; measured not reached by d = 1024)"));
}

TEST(LessonAnswers, SaysWhatWasMeasuredAloneWhereThereIsNoExactValue) {
  ResultRow raw = spread_row(64, "none", 8, 1);
  raw.reference.reset();
  EXPECT_THAT(lesson_answers({&raw, 1}, {}),
              testing::Contains("1 raw spread 8.00 against sqrt(d) 8 at d = 64"));
  ResultRow row = query_row(16, "div_d", "top_weight", 0.1311, 0.131);
  EXPECT_THAT(lesson_answers({&row, 1}, {}), testing::Contains(HasSubstr("top weight 0.131;")));
  row.reference = 0.130641;
  EXPECT_THAT(lesson_answers({&row, 1}, {}),
              testing::Contains(HasSubstr("top weight 0.1306 (exact; measured 0.131);")));
}

TEST(LessonAnswers, TakesCrossingsOfTheSameNumbersOnly) {
  const Results run = lesson_run();
  CrossingRow other = crossing_row("mean", 0.9, 50, CrossingStatus::kOk);
  other.key.keys = 64;
  EXPECT_THAT(lesson_answers(run.rows, {&other, 1}),
              testing::Not(testing::Contains(HasSubstr("unscaled, one key"))));
}

TEST(LessonAnswers, SaysWhatTheQuestionsNeedThatTheRowsHaveNoNumbersFor) {
  EXPECT_TRUE(lesson_answers({}, {}).empty());
  const ResultRow raw = spread_row(64, "none", 8, 1);
  EXPECT_THAT(
      lesson_answers({&raw, 1}, {}),
      ElementsAre("1 raw spread sqrt(d) = 8 (exact; measured 8.00) at d = 64",
                  "not answered: 2 needs top_weight under none, several d, 2 or more keys; 3 needs "
                  "the median slope under none or div_sqrt_d, 2 or more keys; 4 needs top_weight "
                  "under div_d, "
                  "2 or more keys"));
  const ResultRow slope = query_row(64, "none", "slope", 0.1, 0.0003);
  EXPECT_THAT(lesson_answers({&slope, 1}, {}),
              ElementsAre("3 p(1-p) of a typical query at d = 64: 0.00030 unscaled",
                          StartsWith("not answered: 1 needs logit_sd under none; 2 needs ")));
  ResultRow no_estimate = raw;
  no_estimate.estimate.reset();
  EXPECT_TRUE(lesson_answers({&no_estimate, 1}, {}).empty());
}

TEST(LessonAnswers, SaysNothingOfTheWeightOfASingleKey) {
  Results run = lesson_run();
  for (ResultRow& row : run.rows) row.key.keys = 1;
  for (CrossingRow& crossing : run.crossings) crossing.key.keys = 1;
  EXPECT_THAT(lesson_answers(run.rows, run.crossings),
              ElementsAre(StartsWith("1 raw spread "), StartsWith("not answered: 2 needs ")));
}

TEST(LessonAnswers, ComparesWithTheExactSpreadWhereEntriesAreNotOfSpreadOne) {
  ResultRow row = spread_row(4, "none", 8, 1);  // entries of spread 2: 2^2 sqrt(4)
  EXPECT_THAT(lesson_answers({&row, 1}, {}),
              testing::Contains("1 raw spread 8 (exact; measured 8.00) at d = 4"));
}

TEST(LessonAnswers, IsAboutSizesNotAboutKeys) {
  std::vector<ResultRow> rows;
  for (const std::int64_t keys : {2, 1024}) {
    rows.push_back(query_row(64, "none", "slope", 0.1, 0.0003));
    rows.back().key.keys = keys;
  }
  EXPECT_TRUE(lesson_answers(rows, {}).empty());
}

TEST(LessonAnswers, ShortensALongList) {
  std::vector<ResultRow> rows;
  for (std::int64_t d = 1; d <= 9; ++d) {
    rows.push_back(spread_row(d * d, "none", static_cast<double>(d), 1));
  }
  EXPECT_THAT(
      lesson_answers(rows, {}),
      testing::Contains("1 raw spread sqrt(d) = 1 to 9 (exact; measured 1.00 to 9.00) from d = 1 "
                        "to d = 81"));
}

TEST(LessonAnswers, SaysWhichGridAnswersWhereSeveralDo) {
  std::vector<ResultRow> rows;
  for (const std::int64_t keys : {2, 4, 8, 16, 32}) {
    for (const std::int64_t d : {4, 16}) {
      rows.push_back(query_row(d, "div_d", "top_weight", 0.6, 0.6));
      rows.back().key.keys = keys;
    }
  }
  const std::vector<std::string> lines = lesson_answers(rows, {});
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0],
            "4 [softmax: normal entries, 2 keys, 10,000 queries] divided by d at d = 16: top "
            "weight 0.600; equal weights would be 1/2 = 0.5");
  EXPECT_EQ(lines[3], "4 ... and 2 more; see summary.csv");
}

}  // namespace
}  // namespace attnscale
