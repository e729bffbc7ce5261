#include "report/number_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace attnscale {
namespace {

TEST(Rounded, KeepsTheDigitsAskedFor) {
  EXPECT_EQ(rounded(1.9996, 3), "2.00");
  EXPECT_EQ(rounded(0.99849, 3), "0.998");
  EXPECT_EQ(rounded(-0.1311, 3), "-0.131");
  EXPECT_EQ(rounded(1024, 2), "1024");
  EXPECT_EQ(rounded(0.0003354, 4), "0.0003354");
  EXPECT_EQ(rounded(0, 3), "0");
}

TEST(Rounded, IsScientificForTinyAndHugeNumbers) {
  EXPECT_EQ(rounded(7.7432e-07, 2), "7.7e-07");
  EXPECT_EQ(rounded(1.25e7, 3), "1.25e+07");
}

TEST(Rounded, ShowsNoSignOfWhatIsNoNumber) {
  EXPECT_EQ(rounded(-std::numeric_limits<double>::quiet_NaN(), 3), "nan");
}

TEST(RoundedShort, DropsTrailingZeros) {
  EXPECT_EQ(rounded_short(2, 4), "2");
  EXPECT_EQ(rounded_short(0.125, 4), "0.125");
  EXPECT_EQ(rounded_short(11.3137, 4), "11.31");
  EXPECT_EQ(rounded_short(1000, 3), "1000");
  EXPECT_EQ(rounded_short(5e-07, 3), "5e-07");
}

TEST(EstimateAndError, GivesTheErrorTwoDigitsAndTheEstimateTheSamePlace) {
  EXPECT_EQ(estimate_and_error(0.361204, 0.000229), "0.36120 +- 0.00023");
  EXPECT_EQ(estimate_and_error(31.9482, 0.2262), "31.95 +- 0.23");
  EXPECT_EQ(estimate_and_error(-0.002, 0.0142), "-0.002 +- 0.014");
  EXPECT_EQ(estimate_and_error(512.4, 23.4), "512 +- 23");
  EXPECT_EQ(estimate_and_error(1, 0.0996), "1.00 +- 0.10");
  EXPECT_EQ(estimate_and_error(1, 0.0960), "1.000 +- 0.096");
}

TEST(EstimateAndError, SharesOnePowerOfTenWhereBothAreTiny) {
  EXPECT_EQ(estimate_and_error(1.2e-07, 1.5e-08), "(1.20 +- 0.15)e-07");
  EXPECT_EQ(estimate_and_error(2e-08, 1.5e-07), "(0.2 +- 1.5)e-07");
}

TEST(EstimateAndError, DoesNotWriteEndlessDigitsForATinyError) {
  EXPECT_EQ(estimate_and_error(0.99999999, 1e-18), "1.000000 +- 1.0e-18");
  EXPECT_EQ(estimate_and_error(0.125, 0), "0.125 +- 0");
}

TEST(EstimateAndError, PutsAShortErrorInBracketsInTheLastDigits) {
  const auto text = [](double estimate, double error) {
    return estimate_and_error(estimate, error, ErrorForm::kLastDigits);
  };
  EXPECT_EQ(text(0.874032, 0.001741), "0.8740(17)");
  EXPECT_EQ(text(31.9482, 0.2262), "31.95(23)");
  EXPECT_EQ(text(319.48, 2.262), "319.5(2.3)");
  EXPECT_EQ(text(512.4, 23.4), "512(23)");
  EXPECT_EQ(text(1, 0.0996), "1.00(10)");
  EXPECT_EQ(text(1.2e-07, 1.5e-08), "1.20(15)e-07");
  EXPECT_EQ(text(2.0790308, 6.9e-06), "2.0790308(69)");
  EXPECT_EQ(text(0.99999999, 1e-18), "1.000000 +- 1.0e-18");
  EXPECT_EQ(text(0.125, 0), "0.125(0)");
}

TEST(Grouped, SeparatesThousands) {
  EXPECT_EQ(grouped(8), "8");
  EXPECT_EQ(grouped(1024), "1,024");
  EXPECT_EQ(grouped(10000), "10,000");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
}

}  // namespace
}  // namespace attnscale
