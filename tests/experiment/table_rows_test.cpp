// What holds for every row of the tables that a config names rows of. The samplers' own tests are
// in sampler_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <string>

#include "draw/sampler.h"
#include "experiment/metric.h"
#include "experiment/presets.h"
#include "support/drawn_scores.h"
#include "support/plain_softmax.h"
#include "support/power_means.h"

namespace attnscale {
namespace {

bool is_snake_case(std::string_view name) {
  const std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' && name.back() != '_' &&
         name.find("__") == name.npos && name.find_first_not_of(letters) == name.npos;
}

// One line, in ASCII, that ends like the others: `list` prints it as it is.
bool is_one_line_of_help(std::string_view help) {
  for (const char character : help) {
    if (character < ' ' || character > '~') return false;
  }
  return !help.empty() && help.front() != ' ' && help.back() != ' ' && help.back() != '.';
}

template <typename Table, typename Find>
void expect_named_rows(const Table& table, const Find& find) {
  std::set<std::string_view> names;
  EXPECT_FALSE(table.empty());
  for (const auto& row : table) {
    EXPECT_TRUE(is_snake_case(row.name)) << row.name;
    EXPECT_TRUE(is_one_line_of_help(row.help)) << row.name << ": " << row.help;
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " twice";
    EXPECT_TRUE(find(row.name)) << row.name;
  }
  EXPECT_FALSE(find("no_such_row"));
  EXPECT_FALSE(find(""));
}

TEST(EveryTable, NamesItsRowsOnceAndSaysWhatTheyAre) {
  expect_named_rows(preset_table(), [](auto name) { return find_preset(name) != nullptr; });
  expect_named_rows(metric_table(), [](auto name) { return find_metric(name) != nullptr; });
  for (const MetricRow& row : metric_table()) EXPECT_TRUE(is_one_line_of_help(row.title));
  expect_named_rows(law_table(), [](auto name) { return find_law(name) != nullptr; });
  expect_named_rows(sampler_table(), [](auto name) { return find_sampler(name) != nullptr; });
}

TEST(EveryTable, FindsTheRowThatWasAskedFor) {
  for (const MetricRow& row : metric_table()) EXPECT_EQ(find_metric(row.name), &row);
  for (const LawRow& row : law_table()) EXPECT_EQ(find_law(row.name), &row);
  for (const SamplerRow& row : sampler_table()) EXPECT_EQ(find_sampler(row.name), &row);
  for (const PresetRow& row : preset_table()) EXPECT_EQ(find_preset(row.name), &row);
}

TEST(EverySampler, SaysWhatItCosts) {
  for (const SamplerRow& row : sampler_table()) {
    EXPECT_GT(row.nanoseconds, 0) << row.name;
    EXPECT_GE(row.max_d, 1 << 16) << row.name;
    EXPECT_GE(row.max_keys, 1 << 16) << row.name;
    EXPECT_TRUE(row.can_draw(normal_entries())) << row.name;
  }
}

// A number within each parameter's bounds.
std::vector<double> some_parameters(const LawRow& row) {
  std::vector<double> parameters;
  for (const LawParameter& parameter : row.parameters) {
    EXPECT_TRUE(is_snake_case(parameter.name)) << parameter.name;
    EXPECT_TRUE(is_one_line_of_help(parameter.help)) << parameter.name;
    EXPECT_LT(parameter.above, parameter.at_most) << parameter.name;
    parameters.push_back(std::min(parameter.above + 12, (parameter.above + parameter.at_most) / 2));
  }
  return parameters;
}

// The draws are fixed.
TEST(EveryLaw, HasMeanZeroSpreadOneAndItsKurtosis) {
  constexpr std::size_t kDraws = 200000;
  for (const LawRow& row : law_table()) {
    SCOPED_TRACE(row.name);
    const std::vector<double> parameters = some_parameters(row);
    RandomStream words({20, hash_text(row.name), 0}, StreamPurpose::kEntries);
    std::vector<double> draws(kDraws);
    row.fill(parameters, words, draws);
    expect_mean_of_power(draws, 1, 0, 5);
    expect_mean_of_power(draws, 2, 1, 5);
    const double kurtosis = row.kurtosis(parameters);
    EXPECT_GE(kurtosis, 1);
    if (std::isfinite(kurtosis)) expect_mean_of_power(draws, 4, kurtosis, 5);
  }
}

TEST(EveryLaw, DrawsOneNumberAfterTheOther) {
  for (const LawRow& row : law_table()) {
    const std::vector<double> parameters = some_parameters(row);
    std::array<double, 20> many{};
    std::array<double, 5> few{};
    RandomStream words({1, 2, 3}, StreamPurpose::kEntries);
    RandomStream same_words({1, 2, 3}, StreamPurpose::kEntries);
    row.fill(parameters, words, many);
    row.fill(parameters, same_words, few);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin())) << row.name;
  }
}

TEST(ScoreMoments, AreThoseOfSumsOfProducts) {
  // Centred normal entries: kurtosis 3 + (3 * 3 - 3) / d.
  for (const std::int64_t d : {1, 4, 64, 1024}) {
    const ScoreMoments moments = score_moments(normal_entries(), d, 1);
    const auto size = static_cast<double>(d);
    EXPECT_EQ(moments.mean, 0);
    EXPECT_DOUBLE_EQ(moments.sd, std::sqrt(size));
    EXPECT_DOUBLE_EQ(moments.kurtosis, 3 + 6 / size);
  }
  // Entries uniform on (0, 1) have mean 1/2 and variance 1/12: 7/144 and 1/4 for each coordinate.
  const ScoreMoments shifted = score_moments(normal_entries(0.5, std::sqrt(1.0 / 12)), 100, 1);
  EXPECT_DOUBLE_EQ(shifted.mean, 25);
  EXPECT_DOUBLE_EQ(shifted.sd, std::sqrt(100 * 7.0 / 144));
  EXPECT_TRUE(std::isnan(shifted.kurtosis));
  // A mean on one side only.
  Entries one_sided = normal_entries();
  one_sided.keys.mean = 3;
  one_sided.keys.sd = 2;
  EXPECT_EQ(score_moments(one_sided, 16, 1).mean, 0);
  EXPECT_DOUBLE_EQ(score_moments(one_sided, 16, 1).sd, std::sqrt(16.0 * (4 + 9)));
}

TEST(IdentityText, IsEqualExactlyForEntriesThatDrawTheSame) {
  const Entries plain = normal_entries();
  Entries renamed = plain;
  renamed.name = "another name";
  renamed.value = 3;
  EXPECT_EQ(identity_text(plain), identity_text(renamed));
  std::set<std::string> texts{identity_text(plain)};
  for (double Law::*number : {&Law::mean, &Law::sd}) {
    for (Law Entries::*side : {&Entries::queries, &Entries::keys}) {
      Entries other = plain;
      other.*side.*number = std::nextafter(plain.*side.*number, 9.0);
      EXPECT_TRUE(texts.insert(identity_text(other)).second);
    }
  }
}

}  // namespace
}  // namespace attnscale
