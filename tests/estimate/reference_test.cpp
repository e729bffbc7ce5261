#include "estimate/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "estimate/crossings.h"
#include "support/drawn_cell.h"
#include "support/scalings.h"

namespace attnscale {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string_view> kWithExactMeans{"top_weight", "slope",  "score_slope",
                                                    "entropy",    "sum_p2", "margin"};

Experiment experiment_of(std::int64_t d, std::int64_t keys,
                         const std::vector<std::string_view>& metrics) {
  Experiment experiment = drawn_experiment("direct", d, keys, 100);
  experiment.metrics = metric_rows(metrics);
  return experiment;
}

std::vector<std::optional<double>> exact_of(ExactValues& exact, const Experiment& experiment,
                                            std::size_t scaling = 0) {
  const Plan plan = plan_of(experiment);
  return exact.of(experiment, plan.cells.front(), experiment.scalings[scaling]);
}

// The file's 7 digits are rounded to 5e-8; its own quadrature is good to 1e-6.
TEST(ExactValues, StandBesideEveryEstimateOfTheReferenceFile) {
  std::ifstream file(std::string(ATTNSCALE_SOURCE_DIR) +
                     "/tests/reference_values/normal_entries.json");
  ExactValues exact(ReferenceMode::kAuto);
  for (const auto& entry : nlohmann::json::parse(file)) {
    SCOPED_TRACE(entry.dump());
    Experiment experiment =
        experiment_of(entry["d"].get<std::int64_t>(), entry["keys"].get<std::int64_t>(),
                      {"top_weight", "slope", "sum_p2", "entropy", "max_logit", "score_slope"});
    experiment.scalings = {*find_scaling(entry["scaling"].get<std::string>())};
    const auto values = exact_of(exact, experiment);
    for (std::size_t i = 0; i < 4; ++i) {
      const std::string name(experiment.metrics[i]->name);
      EXPECT_NEAR(values[i].value(), entry[name].get<double>(), 1e-6) << name;
    }
    EXPECT_FALSE(values[4]);  // no exact mean of the largest logit
    const double multiplier =
        factor_of(experiment.scalings[0], static_cast<double>(experiment.d[0]));
    EXPECT_NEAR(values[5].value(), multiplier * *values[1], 1e-12);
  }
}

// What alignment adds to all scores of a query moves no weight of a plain softmax; but it does
// under a cap, beside a sink and in a sigmoid, and it turns cosines.
TEST(ExactValues, ForgetASharedShiftOnlyWhereTheWeightsDo) {
  Experiment experiment = experiment_of(16, 8, {"top_weight", "total_weight", "logit_sd"});
  experiment.entries.front().alignment = 0.5;
  experiment.scalings = {*find_scaling("div_sqrt_d"), *find_scaling("softmax1"),
                         *find_scaling("gemma2_27b"), *find_scaling("qwen3"),
                         preset("sigmoid", {-2})};
  ExactValues exact(ReferenceMode::kAuto);
  EXPECT_TRUE(exact_of(exact, experiment, 0)[0]);
  for (std::size_t s = 1; s < experiment.scalings.size(); ++s) {
    SCOPED_TRACE(experiment.scalings[s].name);
    const auto values = exact_of(exact, experiment, s);
    EXPECT_FALSE(values[0]);
    EXPECT_FALSE(values[1]);
    const Cell cell = plan_of(experiment).cells.front();
    EXPECT_FALSE(exact.crossing(cell, experiment.scalings[s], 0.5));
  }
  experiment.entries.front().alignment = 0;
  for (std::size_t s = 0; s < experiment.scalings.size(); ++s) {
    EXPECT_TRUE(exact_of(exact, experiment, s)[0]);
  }
}

// Of equal logits the first key is the top one, so scores of few values favour aligned keys.
TEST(ExactValues, GiveAlignedKeysTheirShareOfTopsWhereNoLogitsAreEqual) {
  ExactValues exact(ReferenceMode::kAuto);
  const auto share = [&](const char* law, const char* scaling) {
    Experiment experiment = experiment_of(4, 8, {"aligned_top", "aligned_weight"});
    experiment.sampler = find_sampler("boost");
    Entries& entries = experiment.entries.front();
    entries.queries = entries.keys = Law{find_law(law), {}, 0, 1};
    entries.aligned_keys = 2;
    experiment.scalings = {*find_scaling(scaling)};
    return exact_of(exact, experiment);
  };
  EXPECT_EQ(share("normal", "div_d")[0], 0.25);
  EXPECT_EQ(share("normal", "div_d")[1], 0.25);
  EXPECT_FALSE(share("rademacher", "div_d")[0]);
  EXPECT_EQ(share("rademacher", "div_d")[1], 0.25);
  EXPECT_FALSE(share("normal", "gemma2_27b")[0]);
  EXPECT_FALSE(share("normal", "softmax1")[1]);
}

TEST(ExactValues, SayWhereACrossingMayLieBeyondTheirReach) {
  Experiment experiment = experiment_of(16, 8, {"top_weight"});
  experiment.scalings = {
      logit_scaling("raw_sink", "q.k", {.normaliser = {NormaliserKind::kSink, 0}})};
  ExactValues exact(ReferenceMode::kAuto);
  const Cell cell = plan_of(experiment).cells.front();
  EXPECT_TRUE(exact.crossing(cell, experiment.scalings[0], 0.5));
  EXPECT_THAT(exact.warnings(), testing::IsEmpty());
  EXPECT_FALSE(exact.crossing(cell, experiment.scalings[0], 0.999));
  EXPECT_THAT(exact.warnings(), ElementsAre(HasSubstr("1 exact crossing was not found")));
}

// E|q| for d = 2 is sqrt(pi / 2); the gap of two standard normals is 2 / sqrt(pi) on average.
TEST(ExactValues, MarginHasItsClosedFormForTwoKeys) {
  ExactValues exact(ReferenceMode::kAuto);
  EXPECT_NEAR(exact_of(exact, experiment_of(2, 2, {"margin"}))[0].value(), std::sqrt(2.0), 1e-9);
}

// For d = 2 the difference of two scores is sqrt(2) times a Laplace variable, so that
// P(top weight > t) = exp(-ln(t / (1 - t)) / sqrt(2)).
TEST(ExactValues, SaturatedIsKnownForTwoKeysOnly) {
  ExactValues exact(ReferenceMode::kAuto);
  const double expected = std::exp(-std::log(0.99 / 0.01) / std::sqrt(2.0));
  EXPECT_NEAR(exact_of(exact, experiment_of(2, 2, {"saturated"}))[0].value(), expected, 1e-9);
  EXPECT_FALSE(exact_of(exact, experiment_of(2, 8, {"saturated"}))[0]);
}

TEST(ExactValues, EntriesOfAnotherSpreadScaleTheLogits) {
  ExactValues exact(ReferenceMode::kAuto);
  Experiment wide = experiment_of(16, 8, {"top_weight", "margin"});
  wide.entries[0].queries.sd = 4;
  wide.entries[0].keys.sd = 0.25;
  const Experiment plain = experiment_of(16, 8, {"top_weight", "margin"});
  EXPECT_EQ(exact_of(exact, wide), exact_of(exact, plain));
  wide.entries[0].queries.sd = 1;  // 1 x 1/4 = 1 / sqrt(16)
  EXPECT_EQ(exact_of(exact, wide), exact_of(exact, plain, 1));
}

TEST(ExactValues, AreEmptyWhereNoneIsKnown) {
  ExactValues exact(ReferenceMode::kAuto);
  for (const auto& value : exact_of(exact, experiment_of(16, 1, kWithExactMeans))) {
    EXPECT_FALSE(value);
  }
  Experiment shifted = experiment_of(16, 8, kWithExactMeans);
  shifted.entries[0].keys.mean = 0.5;
  for (const auto& value : exact_of(exact, shifted)) EXPECT_FALSE(value);
  EXPECT_TRUE(exact.warnings().empty());  // nothing was too dear
}

// The spread of logits asks for no second key: 3 of an RMS norm at d = 9, and of a cap far above.
TEST(ExactValues, OfTheSpreadAreThereAtOneKey) {
  ExactValues exact(ReferenceMode::kAuto);
  Experiment experiment = experiment_of(9, 1, {"logit_mean", "logit_sd", "top_weight"});
  experiment.scalings = {*find_scaling("gemma4"), logit_scaling("capped", "1e7 tanh(q.k / 1e7)"),
                         *find_scaling("softmax1")};
  for (std::size_t scaling = 0; scaling < 2; ++scaling) {
    const auto values = exact_of(exact, experiment, scaling);
    EXPECT_EQ(values[0], 0);
    EXPECT_NEAR(values[1].value(), 3, 1e-6);
    EXPECT_FALSE(values[2]);
  }
  EXPECT_NEAR(exact_of(exact, experiment, 2)[1].value(), 1, 1e-15);
}

TEST(ExactValues, AreEmptyWhereTheConfigWantsNone) {
  ExactValues off(ReferenceMode::kOff);
  for (const auto& value : exact_of(off, experiment_of(16, 8, {"top_weight", "logit_sd"}))) {
    EXPECT_FALSE(value);
  }
  const Experiment experiment = experiment_of(16, 8, {"top_weight"});
  const Plan plan = plan_of(experiment);
  EXPECT_FALSE(off.crossing(plan.cells.front(), experiment.scalings[0], 0.9));
  EXPECT_TRUE(off.warnings().empty());
}

TEST(ExactValues, SayWhatWasTooDear) {
  const Experiment eight = experiment_of(16, 8, {"top_weight", "logit_sd"});
  const Experiment many = experiment_of(16, 1024, {"top_weight", "saturated"});
  const double enough = ExactMeansTable().pending_work(ExactRequest{16, WeighingCase{8}, 1, 1}) + 1;
  ExactValues exact(ReferenceMode::kAuto, enough);
  EXPECT_TRUE(exact_of(exact, eight)[0]);
  EXPECT_FALSE(exact_of(exact, many)[0]);
  EXPECT_TRUE(exact_of(exact, eight)[0]) << "what is there already costs nothing";
  EXPECT_EQ(exact_of(exact, eight)[1], 4) << "moments of logits cost nothing";
  const Plan plan = plan_of(many);
  EXPECT_FALSE(exact.crossing(plan.cells.front(), many.scalings[0], 0.9));
  EXPECT_THAT(exact.warnings(), ElementsAre(HasSubstr("1 cell and scaling has its exact means"),
                                            HasSubstr("1 exact crossing is")));
}

TEST(ExactValues, LeaveOutLogitsTooFarApartForATable) {
  Experiment experiment = experiment_of(16, 8, {"top_weight"});
  experiment.scalings[0] = logit_scaling("none", "1e200 q.k");
  ExactValues exact(ReferenceMode::kAuto);
  EXPECT_FALSE(exact_of(exact, experiment)[0]);
  const Plan plan = plan_of(experiment);
  EXPECT_FALSE(exact.crossing(plan.cells.front(), experiment.scalings[0], 0.9));
  EXPECT_EQ(exact.warnings().size(), 2U);
}

// Logits of one value: their fourth moment over the square of the second is 0/0.
TEST(ExactValues, AreFiniteOrEmpty) {
  Experiment experiment = experiment_of(4, 8, {"logit_sd", "logit_kurtosis"});
  experiment.scalings[0] = logit_scaling("none", "1e-300 tanh(q.k / 1e-300)");
  ExactValues exact(ReferenceMode::kAuto);
  EXPECT_EQ(exact_of(exact, experiment)[1], std::nullopt);
  experiment.scalings[0] = logit_scaling("none", "1e200 q.k");
  experiment.entries[0].keys.sd = 1e200;
  EXPECT_EQ(exact_of(exact, experiment)[0], std::nullopt);
}

// All logits are at a cap this small whatever d is: no d is looked at, nor waited for.
TEST(ExactCrossings, UnderATinyCapThereIsNoneAndItCostsNothing) {
  Experiment experiment = experiment_of(4, 8, {"top_weight"});
  experiment.scalings[0] = logit_scaling("none", "1e-300 tanh(q.k / 1e-300)");
  ExactValues exact(ReferenceMode::kAuto);
  const Plan plan = plan_of(experiment);
  EXPECT_EQ(exact.crossing(plan.cells.front(), experiment.scalings[0], 0.5), std::nullopt);
  EXPECT_TRUE(exact.warnings().empty());
}

// Ten key counts at 200 sizes, three scalings each: what a sweep shares makes it affordable.
TEST(ExactValues, ASweepOfSixThousandIsAffordable) {
  ExactValues exact(ReferenceMode::kAuto);
  for (std::int64_t keys = 2; keys <= 1024; keys *= 2) {
    Experiment experiment = experiment_of(4, keys, {"top_weight"});
    experiment.d.clear();
    for (std::int64_t d = 4; d <= 800; d += 4) experiment.d.push_back(d);
    for (const Cell& cell : plan_of(experiment).cells) {
      for (const Scaling& scaling : experiment.scalings) {
        ASSERT_TRUE(exact.of(experiment, cell, scaling)[0]);
      }
    }
  }
  EXPECT_TRUE(exact.warnings().empty());
}

// 99.58: from two independent quadratures in the project's notes.
TEST(ExactCrossings, StandBesideTheInterpolationInTheGridAndOutOfIt) {
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{4, 16, 64, 256}, {4, 16}, {256, 1024}}) {
    Experiment experiment = experiment_of(4, 8, {"top_weight"});
    experiment.d = sizes;
    const Config config = config_of(experiment);
    std::vector<CrossingRow> crossings = find_crossings(run_config(config));
    ExactValues exact(ReferenceMode::kAuto);
    add_exact_crossings(make_plan(config), exact, crossings);
    ASSERT_EQ(crossings.size(), 18U);  // three scalings, two statistics, three levels
    for (const CrossingRow& row : crossings) {
      if (row.statistic == "median" || row.key.scaling != "none") {
        EXPECT_FALSE(row.d_exact) << row.statistic << " " << row.key.scaling;
      } else if (row.level == 0.9) {
        EXPECT_NEAR(row.d_exact.value(), 99.58, 0.005);
      }
    }
  }
}

}  // namespace
}  // namespace attnscale
