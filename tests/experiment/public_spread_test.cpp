// The spreads that others measured and printed in public, beside ours: the exact value is the one
// stated, the printed number lies within the sampling error of its own experiment, and so does ours
// when we repeat that experiment.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "experiment/given.h"
#include "support/drawn_cell.h"
#include "support/public_numbers.h"
#include "support/scalings.h"

namespace attnscale {
namespace {

// Standard errors by which a printed number may be off: false alarm 6e-5 each.
constexpr double kErrors = 4;

nlohmann::json public_spread(std::size_t index, const std::string& source) {
  const auto cases = public_numbers()["spread"];
  EXPECT_EQ(cases.size(), 5U);
  EXPECT_NE(cases[index]["source"].get<std::string>().find(source), std::string::npos);
  return cases[index];
}

// The only cell of an experiment with one scaling, measured.
std::vector<ResultRow> measure(std::int64_t d, std::int64_t keys, std::int64_t queries,
                               const char* scaling, const std::vector<std::string_view>& metrics) {
  Experiment experiment = drawn_experiment("direct", d, keys, queries);
  experiment.scalings = {*find_scaling(scaling)};
  experiment.metrics = metric_rows(metrics);
  return run_config(config_of(experiment, 21));
}

// Queries and keys of a block are used together, so that its scores share them. Of centred normal
// entries E[s^4] - d^2 = 2 d^2 + 6 d, and two scores that share a query or a key have the
// covariance 2 d of their squares, the variance of a squared norm.
double error_of_shared_variance(double d, double queries, double keys, double blocks) {
  const double one = 2 * d * d + 6 * d;
  const double shared = (queries - 1 + keys - 1) * 2 * d;
  return std::sqrt((one + shared) / (queries * keys * blocks));
}

TEST(PublicSpread, OfBlocksThatShareQueriesAndKeysIsWithinItsError) {
  const auto one = public_spread(0, "JakubTabor");
  const double d = one["d"].get<double>();
  const double error = error_of_shared_variance(
      d, one["queries"].get<double>(), one["keys"].get<double>(), one["blocks"].get<double>());
  EXPECT_NEAR(error, one["standard_error"].get<double>(), printed_error(2));
  EXPECT_LT(std::abs(one["printed_variance"].get<double>() - d), kErrors * error);
  const auto rows = measure(16, 8, 1000, "none", {"logit_sd"});
  EXPECT_NEAR(std::pow(rows.front().reference.value(), 2), one["expected"].get<double>(), 1e-13);
}

std::vector<std::vector<double>> normal_rows(std::size_t rows, std::mt19937_64& words) {
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> numbers(rows, std::vector<double>(16));
  for (auto& row : numbers) {
    for (double& number : row) number = normal(words);
  }
  return numbers;
}

// Their 4 blocks 3,000 times, as given queries and keys. The mean of 12,000 sample variances is 16
// within 4 standard errors (6e-5). Their spread is the error above within 6 %: of a sample of
// 12,000 with a kurtosis below 8 it has a relative error of 1.2 %. Scores taken as independent
// would have a spread 24 % smaller.
TEST(PublicSpread, OfSuchBlocksVariesAsItsErrorSays) {
  std::mt19937_64 words(5);
  constexpr int kRepeats = 12000;
  double sum = 0;
  double squares = 0;
  Experiment experiment;
  experiment.name = "block";
  experiment.scalings = {*find_scaling("none")};
  experiment.metrics = metric_rows({"logit_sd"});
  const Config config = config_of(experiment);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    Given given;
    given.weights = false;
    given.queries.rows = normal_rows(8, words);
    given.keys.rows = normal_rows(8, words);
    experiment.given = given;
    const double sd = measure_given(config, experiment)->rows.front().estimate.value();
    sum += sd * sd;
    squares += std::pow(sd * sd, 2);
  }
  const double mean = sum / kRepeats;
  const double spread = std::sqrt(squares / kRepeats - mean * mean);
  const double error = error_of_shared_variance(16, 8, 8, 1);
  EXPECT_NEAR(mean, 16, kErrors * error / std::sqrt(double{kRepeats}));
  EXPECT_NEAR(spread / error, 1, 0.06);
}

// Independent pairs: the variance of a sample variance is (kurtosis - 1) / pairs of its square.
TEST(PublicSpread, OfIndependentPairsIsWithinItsError) {
  const auto one = public_spread(1, "marcel1520");
  const auto pairs = one["pairs"].get<std::int64_t>();
  const double d = one["d"].get<double>();
  const auto exact = measure(5, 1, pairs, "none", {"logit_sd", "logit_kurtosis"});
  const double kurtosis = exact[1].reference.value();
  EXPECT_DOUBLE_EQ(kurtosis, 3 + 6 / d);
  EXPECT_NEAR(std::pow(exact[0].reference.value(), 2), one["expected"].get<double>(), 1e-14);
  const double error = d * std::sqrt((kurtosis - 1) / static_cast<double>(pairs));
  EXPECT_NEAR(error, one["standard_error"].get<double>(), printed_error(3));
  EXPECT_LT(std::abs(one["printed_variance"].get<double>() - d), kErrors * error);
  // Ours of as many pairs, and the error that it tells by itself: d (variance) = 2 sd d (sd).
  EXPECT_LT(std::abs(std::pow(exact[0].estimate.value(), 2) - d), kErrors * error);
  EXPECT_NEAR(2 * std::sqrt(d) * exact[0].std_error.value() / error, 1, 0.2);
}

// After RMS norms q.k is d cos(q, k), of spread sqrt(d) and kurtosis 3 d / (d + 2). The source
// draws 20,000 rows of each; the relative error of a spread is half that of a variance.
TEST(PublicSpread, OfRmsNormalisedQueriesAndKeysIsThatOfGemma4) {
  constexpr std::int64_t kRows = 20000;
  for (const std::size_t index : {2U, 3U}) {
    const auto one = public_spread(index, index == 2 ? "45676" : "same");
    const auto d = one["d"].get<std::int64_t>();
    const auto rows = measure(d, 1, kRows, "gemma4", {"logit_sd", "logit_kurtosis"});
    const double expected = one["expected"].get<double>();
    EXPECT_NEAR(rows[0].reference.value(), expected, printed_error(6));
    const double kurtosis = rows[1].reference.value();
    EXPECT_NEAR(kurtosis, 3.0 * static_cast<double>(d) / static_cast<double>(d + 2), 1e-14);
    const double error = expected / 2 * std::sqrt((kurtosis - 1) / double{kRows});
    EXPECT_LT(std::abs(one["printed_sd"].get<double>() - expected), kErrors * error);
    EXPECT_LT(std::abs(rows[0].z.value()), kErrors);
  }
}

// A component of the output under values of variance 1 has the variance E[sum p^2]; of one query
// that is sum p^2, with a spread of a tenth of it here.
TEST(PublicSpread, OfAnOutputIsTheRootOfTheMeanSumOfSquares) {
  const auto one = public_spread(4, "graphcore");
  constexpr std::int64_t kQueries = 20000;
  const auto rows = measure(one["d"].get<std::int64_t>(), one["keys"].get<std::int64_t>(), kQueries,
                            one["scaling"].get<std::string>().c_str(), {"sum_p2", "output_sd"});
  const double exact = std::sqrt(rows[0].reference.value());
  EXPECT_NEAR(exact, one["expected"].get<double>(), printed_error(5));
  EXPECT_NEAR(exact, one["printed_output_sd"].get<double>(), printed_error(3));
  EXPECT_LT(std::abs(rows[0].z.value()), kErrors);
  EXPECT_NEAR(rows[1].reference.value(), exact, 1e-15);
  EXPECT_LT(std::abs(rows[1].z.value()), kErrors);
  EXPECT_NEAR(std::pow(rows[1].estimate.value(), 2), rows[0].estimate.value(), 1e-12);
  EXPECT_NEAR(rows[1].std_error.value(), rows[0].std_error.value() / (2 * *rows[1].estimate), 1e-9);
  EXPECT_LT(rows[1].median.value(), exact - 5 * rows[1].std_error.value());
}

// Spreads of unit entries under Gemma 2's and 3's own d, as the field's notes have them.
TEST(PublicSpread, OfTheGemmasIsThatOfTheirOtherD) {
  for (const auto& [logit, expected] :
       {std::pair{"q.k / sqrt(144)", 0.9428}, std::pair{"q.k / sqrt(168)", 0.8729}}) {
    Experiment experiment = drawn_experiment("direct", 128, 8, 20000);
    experiment.scalings = {logit_scaling("other_d", logit)};
    experiment.metrics = metric_rows({"logit_sd"});
    const ResultRow row = run_config(config_of(experiment)).front();
    EXPECT_NEAR(row.reference.value(), expected, printed_error(4));
    EXPECT_LT(std::abs(row.z.value()), kErrors);
  }
}

}  // namespace
}  // namespace attnscale
