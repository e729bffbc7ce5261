#include "io/result_tables.h"
#include "io/result_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "io/csv_reader.h"
#include "io/result_files.h"
#include "support/scratch_folder.h"

namespace attnscale {
namespace {

constexpr const char* kSummaryHeader =
    "run,seed,experiment,entries,entries_value,entries_series,d,keys,scaling,scaling_value,series,"
    "metric,queries,left_out,estimate,std_error,ci_low,ci_high,sd,min,q05,median,q95,max,reference,"
    "z,status";

ResultKey key_of(std::int64_t d, const std::string& scaling) {
  ResultKey key;
  key.run = "try_this";
  key.seed = 9007199254740991;
  key.experiment = "softmax";
  key.entries = "normal";
  key.d = d;
  key.keys = 8;
  key.scaling = scaling;
  return key;
}

ResultRow row_of(std::int64_t d, const std::string& scaling, const std::string& metric,
                 double estimate) {
  ResultRow row;
  row.key = key_of(d, scaling);
  row.metric = metric;
  row.queries = 10000;
  row.estimate = estimate;
  row.status = LineStatus::kOk;
  return row;
}

ResultRow full_row() {
  ResultRow row = row_of(4, "none", "top_weight", 0.5);
  row.key.entries_value = 5;
  row.key.scaling_value = 30.5;
  row.std_error = 1.0 / 3;
  row.ci_low = 0.25;
  row.ci_high = 0.75;
  row.sd = 7.7e-07;
  row.min = 0;
  row.q05 = 0.05;
  row.median = 0.5;
  row.q95 = std::numeric_limits<double>::denorm_min();
  row.max = 1;
  row.reference = 0.125;
  row.z = -2;
  return row;
}

template <typename Function>
std::string error_of(const Function& function) {
  try {
    function();
    return "no error";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(SummaryTable, HasTheColumnsOthersRelyOn) {
  EXPECT_EQ(to_csv(table_of<ResultRow>({})), std::string(kSummaryHeader) + "\n");
  const ResultRow row = full_row();
  EXPECT_EQ(
      to_csv(table_of<ResultRow>({&row, 1})),
      std::string(kSummaryHeader) +
          "\ntry_this,9007199254740991,softmax,normal,5,normal 5,4,8,none,30.5,none 30.5,"
          "top_weight,10000,0,0.5,0.3333333333333333,0.25,0.75,7.7e-07,0,5e-02,0.5,5e-324,1,0."
          "125,-2,ok\n");
}

TEST(SummaryTable, ReadsBackExactly) {
  const ScratchFolder folder;
  ResultRow sparse;
  sparse.key.run = "by_hand";
  sparse.key.experiment = "typed";
  sparse.key.scaling = "none";
  sparse.metric = "slope";
  sparse.status = LineStatus::kNonfinite;
  const std::vector<ResultRow> rows = {full_row(), sparse};
  put(folder / "summary.csv", to_csv(table_of<ResultRow>(rows)));
  EXPECT_EQ(read_rows<ResultRow>(folder / "summary.csv"), rows);
}

TEST(SummaryTable, NamesFileAndLineOfADamagedFile) {
  const ScratchFolder folder;
  const auto path = folder / "summary.csv";
  const ResultRow row = full_row();
  const std::string good = to_csv(table_of<ResultRow>({&row, 1}));
  const auto damaged = [&](const std::string& old_text, const std::string& new_text) {
    std::string text = good;
    put(path, text.replace(text.find(old_text), old_text.size(), new_text));
    return error_of([&] { read_rows<ResultRow>(path); });
  };
  EXPECT_EQ(damaged(",10000,", ",1e4,"),
            path.string() + ":2: column queries: found \"1e4\"; expected a whole number");
  EXPECT_EQ(damaged(",10000,", ",,"),
            path.string() + ":2: column queries: found nothing; expected a whole number");
  EXPECT_EQ(damaged(",0.75,", ",0.75x,"),
            path.string() + ":2: column ci_high: found \"0.75x\"; expected a number");
  EXPECT_EQ(damaged(",0.75,", ",nan,"),
            path.string() + ":2: column ci_high: found \"nan\"; expected a number");
  EXPECT_THAT(damaged("std_error", "stderr"),
              testing::StartsWith(path.string() + ":1: the columns are run,seed,"));
  EXPECT_THAT(damaged(",ok\n", ",ok"), testing::HasSubstr(":2: the last line has no line end"));
}

TEST(SummaryTable, RefusesASeriesThatIsNotItsScalingAndValue) {
  const ScratchFolder folder;
  const ResultRow row = full_row();
  std::string text = to_csv(table_of<ResultRow>({&row, 1}));
  put(folder / "summary.csv", text.replace(text.find(",none 30.5,"), 11, ",none 30,"));
  EXPECT_THAT(error_of([&] { read_rows<ResultRow>(folder / "summary.csv"); }),
              testing::HasSubstr(":2: column series: found \"none 30\"; expected \"none 30.5\""));
}

TEST(WideTable, HasOneLinePerCellAndScalingAndTheUnionOfTheMetrics) {
  std::vector<ResultRow> rows = {row_of(4, "none", "logit_sd", 2.5),
                                 row_of(4, "none", "top_weight", 0.75),
                                 row_of(4, "div_d", "logit_sd", 0.5)};
  rows[0].std_error = 0.125;
  rows[0].reference = 2;
  rows[1].median = 0.875;
  rows[1].queries = 9996;
  rows[1].left_out = 4;
  EXPECT_EQ(
      to_csv(wide_table(rows)),
      "run,seed,experiment,entries,entries_value,entries_series,d,keys,scaling,scaling_value,"
      "series,queries,left_out,"
      "logit_sd,logit_sd_se,logit_sd_reference,"
      "top_weight,top_weight_se,top_weight_reference,top_weight_median\n"
      "try_this,9007199254740991,softmax,normal,,normal,4,8,none,,none,9996,4,2.5,0.125,2,0."
      "75,,,0.875\n"
      "try_this,9007199254740991,softmax,normal,,normal,4,8,div_d,,div_d,10000,0,0.5,,,,,,\n");
}

TEST(WideTable, GathersTheRowsOfACellFromAnywhere) {
  const std::vector<ResultRow> rows = {row_of(4, "none", "slope", 0.25),
                                       row_of(16, "none", "slope", 0.5),
                                       row_of(4, "none", "entropy", 0.75)};
  const Table table = wide_table(rows);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0][13], Value(0.25));
  EXPECT_EQ(table.rows[0][16], Value(0.75));
  EXPECT_EQ(table.rows[1][13], Value(0.5));
  EXPECT_EQ(table.rows[1][16], Value());
}

TEST(CrossingsTable, HasTheColumnsOthersRelyOnAndReadsBackExactly) {
  const ScratchFolder folder;
  CrossingRow row;
  row.key = key_of(0, "none");
  row.key.d.reset();
  row.metric = "top_weight";
  row.statistic = "mean";
  row.level = 0.9;
  row.d = 100.5;
  row.d_std_error = 2.5;
  row.d_exact = 99.58;
  row.status = CrossingStatus::kOk;
  const std::string text = to_csv(table_of<CrossingRow>({&row, 1}));
  EXPECT_EQ(text,
            "run,seed,experiment,entries,entries_value,entries_series,keys,scaling,scaling_value,"
            "series,metric,statistic,level,d,d_std_error,d_exact,status\n"
            "try_this,9007199254740991,softmax,normal,,normal,8,none,,none,top_weight,mean,0.9,"
            "100.5,2.5,99.58,ok\n");
  put(folder / "crossings.csv", text);
  put(folder / "summary.csv", std::string(kSummaryHeader) + "\n");
  EXPECT_EQ(to_csv(table_of<CrossingRow>(read_results(folder.path()).crossings)), text);
}

TEST(ContrastsTable, HasTheColumnsOthersRelyOn) {
  ContrastRow row;
  row.key = key_of(4, "power");
  row.key.scaling_value = -0.25;
  row.metric = "top_weight";
  row.baseline = "none";
  row.queries = 9998;
  row.left_out = 2;
  row.estimate = -0.5;
  row.std_error = 0.125;
  row.ci_low = -0.75;
  EXPECT_EQ(to_csv(table_of<ContrastRow>({&row, 1})),
            "run,seed,experiment,entries,entries_value,entries_series,d,keys,metric,scaling,"
            "scaling_value,series,baseline,queries,left_out,estimate,std_error,ci_low,ci_high\n"
            "try_this,9007199254740991,softmax,normal,,normal,4,8,top_weight,power,-0.25,"
            "power -0.25,none,9998,2,"
            "-0.5,0.125,-0.75,\n");
}

TEST(GivenTables, HaveTheColumnsOthersRelyOnAndReadBackExactly) {
  const ScratchFolder folder;
  const ResultKey key{"typed", 7, "lesson", "", {}, 4, 3, "power", -0.5};
  const WeightRow weight = {key, 0, 1, 2, 16, 8, 0.75, 0.1875};
  const OutputRow output = {key, 0, 1, 3, -0.5};
  const std::string weights = to_csv(table_of<WeightRow>({&weight, 1}));
  const std::string outputs = to_csv(table_of<OutputRow>({&output, 1}));
  EXPECT_EQ(weights,
            "run,seed,experiment,d,keys,scaling,scaling_value,series,head,query,key,score,logit,"
            "weight,slope,status\n"
            "typed,7,lesson,4,3,power,-0.5,power -0.5,0,1,2,16,8,0.75,0.1875,ok\n");
  EXPECT_EQ(outputs,
            "run,seed,experiment,d,keys,scaling,scaling_value,series,head,query,component,output,"
            "status\n"
            "typed,7,lesson,4,3,power,-0.5,power -0.5,0,1,3,-0.5,ok\n");
  put(folder / "weights.csv", weights);
  put(folder / "outputs.csv", outputs);
  put(folder / "summary.csv", std::string(kSummaryHeader) + "\n");
  const Results read = read_results(folder.path());
  EXPECT_EQ(to_csv(table_of<WeightRow>(read.weights)), weights);
  EXPECT_EQ(to_csv(table_of<OutputRow>(read.outputs)), outputs);
}

TEST(GivenTables, ReadBackNumbersThatAreNotFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const ScratchFolder folder;
  const ResultKey key{"r", 0, "e", "", {}, {}, 3, "none", {}};
  const std::vector<WeightRow> rows = {{key, 0, 0, 0, kInfinity, -kInfinity, kNan, kNan},
                                       {key, 0, 0, 1, 1, 1, kNan, kNan},
                                       {key, 0, 0, 2, kNan, 1, 0.5, kInfinity}};
  const std::string text = to_csv(table_of<WeightRow>(rows));
  EXPECT_EQ(text,
            "run,seed,experiment,d,keys,scaling,scaling_value,series,head,query,key,score,logit,"
            "weight,slope,status\n"
            "r,0,e,,3,none,,none,0,0,0,,,,,score=inf logit=-inf weight=nan slope=nan\n"
            "r,0,e,,3,none,,none,0,0,1,1,1,,,weight=nan slope=nan\n"
            "r,0,e,,3,none,,none,0,0,2,,1,0.5,,score=nan slope=inf\n");
  put(folder / "weights.csv", text);
  const auto read = read_rows<WeightRow>(folder / "weights.csv");
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].score, kInfinity);
  EXPECT_EQ(read[0].logit, -kInfinity);
  EXPECT_TRUE(std::isnan(read[0].weight) && std::isnan(read[1].slope) && std::isnan(read[2].score));
  EXPECT_EQ(read[2].weight, 0.5);
  EXPECT_EQ(read[2].slope, kInfinity);
  EXPECT_EQ(to_csv(table_of<WeightRow>(read)), text);
}

TEST(GivenTables, RefuseAStatusThatDoesNotFitTheirEmptyCells) {
  const ScratchFolder folder;
  const auto damage_of = [&](const std::string& cells) {
    put(folder / "outputs.csv",
        "run,seed,experiment,d,keys,scaling,scaling_value,series,head,query,component,output,"
        "status\nr,0,e,,3,none,,none,0,0,0," +
            cells + "\n");
    return error_of([&] { read_rows<OutputRow>(folder / "outputs.csv"); });
  };
  EXPECT_EQ(damage_of(",output=inf"), "no error");
  for (const char* cells : {",ok", ",", ",output=1", ",logit=inf", ",output=inf more", "1,",
                            "1,bad", "1,output=inf", "inf,ok"}) {
    EXPECT_THAT(damage_of(cells), testing::HasSubstr("outputs.csv:2: column ")) << cells;
  }
}

TEST(ResultTables, AreNeverWrittenSoThatTheyCannotBeRead) {
  ResultRow row = full_row();
  row.key.entries = "";  // as of given numbers
  EXPECT_NO_THROW(to_csv(table_of<ResultRow>({&row, 1})));
  row.metric = "";
  EXPECT_THROW(to_csv(table_of<ResultRow>({&row, 1})), std::logic_error);
  EXPECT_THROW(to_json(table_of<ResultRow>({&row, 1})), std::logic_error);
  CrossingRow crossing{full_row().key, "top_weight", "mean", 0.5, {}, {}, {}, CrossingStatus::kOk};
  EXPECT_NO_THROW(to_csv(table_of<CrossingRow>({&crossing, 1})));
  crossing.level = std::numeric_limits<double>::infinity();
  EXPECT_THROW(to_csv(table_of<CrossingRow>({&crossing, 1})), std::logic_error);
}

TEST(BaselinesTable, HasTheColumnsOthersRelyOnAndReadsBackExactly) {
  const ScratchFolder folder;
  BaselineRow row;
  row.key = {"run", 1, "layer", "", {}, 64, 128, "none", 0.05};
  row.metric = "logit_sd";
  row.queries = 1536;
  row.estimate = 24.5;
  row.normal.queries = 8192;
  row.normal.estimate = 8;
  row.normal.std_error = 0.01;
  BaselineRow bare = row;
  bare.key.scaling_value.reset();
  bare.normal.std_error.reset();
  bare.normal.ratio = 3.0625;
  const std::string text = to_csv(table_of<BaselineRow>(std::vector{row, bare}));
  EXPECT_EQ(text,
            "run,seed,experiment,d,keys,scaling,scaling_value,series,metric,queries,estimate,"
            "baseline_queries,baseline,baseline_std_error,ratio,matched_queries,matched,"
            "matched_std_error,matched_ratio\n"
            "run,1,layer,64,128,none,5e-02,none 0.05,logit_sd,1536,24.5,8192,8,1e-02,,0,,,\n"
            "run,1,layer,64,128,none,,none,logit_sd,1536,24.5,8192,8,,3.0625,0,,,\n");
  put(folder / "summary.csv", std::string(kSummaryHeader) + "\n");
  put(folder / "baselines.csv", text);
  EXPECT_EQ(to_csv(table_of<BaselineRow>(read_results(folder.path()).baselines)), text);
}

}  // namespace
}  // namespace attnscale
