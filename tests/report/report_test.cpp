#include "report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/report_rows.h"

namespace attnscale {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const Results& run, std::size_t width = 100) {
  return report_text(run, {}, TableFormat::kTable, {.width = width});
}

TEST(Report, PutsSizesDownAndScalingsAcrossAsTheLessonDoes) {
  EXPECT_THAT(
      text_of(lesson_run()),
      AllOf(HasSubstr(
                "spread: normal entries, 1 key, 10,000 queries\n\n"
                "spread of the logits (logit_sd): estimate +- standard error [exact]\n"
                "     d                none            div_sqrt_d                         div_d\n"
                "     4  2.000 +- 0.014 [2]  1.0000 +- 0.0071 [1]        0.5000 +- 0.0035 [0.5]\n"),
            HasSubstr("softmax: normal entries, 8 keys, 10,000 queries\n\n"
                      "largest weight (top_weight): estimate +- standard error\n"
                      "     d              none        div_sqrt_d             div_d\n"
                      "     4  0.5800 +- 0.0012  0.3600 +- 0.0012  0.2300 +- 0.0012\n"
                      "  1024  0.9680 +- 0.0012  0.3610 +- 0.0012  0.1311 +- 0.0012\n"),
            HasSubstr("\nAnswers\n1 raw spread")));
}

TEST(Report, ShowsSlopesAsMedianAndMean) {
  EXPECT_THAT(text_of(lesson_run()),
              AllOf(HasSubstr("slope p(1-p) of the largest weight (slope): median (mean)\n"),
                    HasSubstr("  1024  7.7e-07 (0.0163)  0.221 (0.214)  0.114 (0.114)\n")));
}

TEST(Report, LeavesTheExactValuesOutWhereTheyDoNotFit) {
  EXPECT_THAT(text_of(lesson_run(), 60),
              AllOf(HasSubstr("     4  2.000 +- 0.014  1.0000 +- 0.0071    0.5000 +- 0.0035\n"),
                    Not(HasSubstr("[exact]")), HasSubstr("exact values: in summary.csv")));
  EXPECT_THAT(text_of(lesson_run()), Not(HasSubstr("exact values: in")));
}

TEST(Report, PutsScalingsDownWhereTablesOfAllScalingsAreTooWide) {
  EXPECT_THAT(text_of(lesson_run(), 53),
              HasSubstr("     d  scaling     top_weight             slope\n"
                        "     4  none        0.5800(12)     0.210 (0.190)\n"));
}

TEST(Report, PutsScalingsDownWhereThereIsOneSize) {
  Results run;
  run.rows = {spread_row(64, "none", 8, 1), spread_row(64, "div_sqrt_d", 1, 1)};
  EXPECT_EQ(
      text_of(run),
      "spread: normal entries, d = 64, 1 key, 10,000 queries\n\n"
      "  scaling                 logit_sd\n"
      "  none          8.000 +- 0.057 [8]\n"
      "  div_sqrt_d  1.0000 +- 0.0071 [1]\n"
      "  spread of the logits (logit_sd): estimate +- standard error [exact]\n\n"
      "Answers\n"
      "1 raw spread sqrt(d) = 8 (exact; measured 8.00) at d = 64; after the division 1 (exact; "
      "measured\n  1.000)\n"
      "not answered: 2 needs top_weight under none, several d, 2 or more keys; 3 needs the median "
      "slope\n"
      "  under none or div_sqrt_d, 2 or more keys; 4 needs top_weight under div_d, 2 or more "
      "keys\n");
}

TEST(Report, SaysWhyADrawnNumberHasNoErrorBar) {
  Results run;
  run.rows = {spread_row(64, "none", 8, 1)};
  EXPECT_THAT(text_of(run), Not(HasSubstr("no error bar")));
  run.rows[0].std_error.reset();
  run.rows[0].ci_low.reset();
  run.rows[0].ci_high.reset();
  run.rows[0].key.entries = "student_t";
  EXPECT_THAT(text_of(run),
              HasSubstr("\n  no error bar for logit_sd: student_t has too few moments\n"));
  // A fraction of 0 has an interval alone.
  run.rows[0].ci_low = 0;
  EXPECT_THAT(text_of(run), Not(HasSubstr("no error bar")));
  // Given numbers have no law.
  run.rows[0].ci_low.reset();
  run.rows[0].key.entries = "";
  EXPECT_THAT(text_of(run), Not(HasSubstr("no error bar")));
}

TEST(Report, HasOneTablePerNumberOfKeysAndPutsKeysDownWhereThereIsOneSize) {
  Results run;
  for (const std::int64_t keys : {2, 1024}) {
    for (const std::int64_t d : {4, 16}) {
      run.rows.push_back(query_row(d, "none", "top_weight", 0.6, 0.6));
      run.rows.back().key.keys = keys;
    }
  }
  EXPECT_THAT(text_of(run), AllOf(HasSubstr("softmax: normal entries, 2 keys, 10,000 queries\n"),
                                  HasSubstr("softmax: normal entries, 1,024 keys, 10,000")));
  std::erase_if(run.rows, [](const ResultRow& row) { return row.key.d == 16; });
  EXPECT_THAT(text_of(run), AllOf(HasSubstr("softmax: normal entries, d = 4, 10,000 queries\n"),
                                  HasSubstr("  keys              none\n"
                                            "     2  0.6000 +- 0.0012\n"
                                            "  1024  0.6000 +- 0.0012\n")));
}

TEST(Report, ShowsTheNumberOfASweptScalingOrLaw) {
  Results run;
  for (const double value : {30.0, 50.0}) {
    run.rows.push_back(query_row(4, "soft_cap", "top_weight", 0.6, 0.6));
    run.rows.back().key.scaling_value = value;
    run.rows.back().key.entries = "student_t";
    run.rows.back().key.entries_value = 5;
  }
  EXPECT_THAT(text_of(run),
              AllOf(HasSubstr("softmax: student_t 5 entries, d = 4, 8 keys"),
                    HasSubstr("  soft_cap 30  0.6000"), HasSubstr("  soft_cap 50  0.6000")));
}

TEST(Report, MakesEveryStatusOtherThanOkVisible) {
  Results run = lesson_run();
  ASSERT_EQ(run.rows[0].metric, "logit_sd");
  run.rows[0].status = LineStatus::kDegenerate;
  run.rows[3].estimate.reset();
  run.rows[3].std_error.reset();
  run.rows[3].status = LineStatus::kNonfinite;
  run.rows[6].status = LineStatus::kSomeNonfinite;
  run.rows[7].estimate.reset();
  run.rows[7].status = LineStatus::kNoMoment;
  run.rows[9].status = LineStatus::kConverged;
  run.rows[11].status = LineStatus::kMaxQueries;
  EXPECT_THAT(text_of(run, 120),
              AllOf(HasSubstr("2.000 +- 0.014 [2] degenerate"), HasSubstr("  64  nonfinite"),
                    HasSubstr("0.3600 +- 0.0012 max_queries"),
                    HasSubstr("degenerate: all numbers are equal\n"),
                    HasSubstr("\n  nonfinite: a score, logit or weight overflowed"),
                    HasSubstr("some_nonfinite: of the finite queries alone"),
                    HasSubstr("no_moment: the law has no such moment"),
                    HasSubstr("precision target: 1 reached it (converged), 1 did not "
                              "(max_queries)\n")));
}

TEST(Report, PrintsGivenNumbersQueryByQuery) {
  Results run;
  // The lesson's softmax(16, 8, 0) and its output with values (1,0), (0,1), (1,1).
  const ResultKey key{"run", 0, "lesson", "", {}, {}, 3, "none", {}};
  run.weights = {{key, 0, 0, 0, 16, 16, 0.99966454, 0.00033534},
                 {key, 0, 0, 1, 8, 8, 0.000335351, 0.00033524},
                 {key, 0, 0, 2, 0, 0, 1.12e-07, 1.12e-07},
                 {key, 1, 2, 0, 1, 1, 1, 0}};
  run.outputs = {{key, 0, 0, 0, 0.99966465}, {key, 0, 0, 1, 0.25}};
  EXPECT_EQ(text_of(run),
            "lesson: head 0, query 0\n"
            "  scaling  key  score  logit     weight      slope\n"
            "  none       0     16     16     0.9997  0.0003353\n"
            "  none       1      8      8  0.0003354  0.0003352\n"
            "  none       2      0      0  1.120e-07  1.120e-07\n"
            "  output, none: (0.9997, 0.25)\n\n"
            "lesson: head 1, query 2\n"
            "  scaling  key  score  logit  weight  slope\n"
            "  none       0      1      1   1.000      0\n");
}

TEST(Report, SaysHowMuchOfManyGivenNumbersItLeavesOut) {
  Results run;
  const ResultKey cell{"run", 0, "big", "", {}, {}, 40, "none", {}};
  for (std::int64_t query = 0; query < 10; ++query) {
    for (std::int64_t key = 0; key < 40; ++key) {
      run.weights.push_back({cell, 0, query, key, 0, 0, 0.025, 0.024375});
    }
  }
  const std::string text = text_of(run);
  EXPECT_THAT(text, AllOf(HasSubstr("  8 more lines in weights.csv\n"),
                          HasSubstr("  9 more queries of big in weights.csv\n"),
                          HasSubstr("big: query 0\n"), Not(HasSubstr("big: query 1\n"))));
}

TEST(Report, HasAMarkdownForm) {
  EXPECT_THAT(
      report_text(lesson_run(), {}, TableFormat::kMarkdown, {.width = 20}),
      AllOf(testing::StartsWith("## spread: normal entries, 1 key, 10,000 queries\n\n"
                                "spread of the logits (logit_sd): estimate +- standard error "
                                "[exact]\n\n"
                                "| d | none | div_sqrt_d | div_d |\n"
                                "| ---: | ---: | ---: | ---: |\n"
                                "| 4 | 2.000 +- 0.014 [2] |"),
            HasSubstr("\n## Answers\n\n* 1 raw spread")));
}

TEST(Report, IsEmptyForARunWithoutRows) {
  EXPECT_EQ(text_of({}), "");
}

}  // namespace
}  // namespace attnscale
