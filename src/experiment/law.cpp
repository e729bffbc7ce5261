#include "experiment/law.h"

#include <array>
#include <boost/random/normal_distribution.hpp>
#include <charconv>
#include <cmath>
#include <limits>

namespace attnscale {
namespace {

double normal_kurtosis(std::span<const double>) {
  return 3;
}

void fill_normal(std::span<const double>, RandomStream& words, std::span<double> out) {
  boost::random::normal_distribution<double> normal;
  for (double& entry : out) entry = normal(words);
}

constexpr std::array kLaws{
    LawRow{"normal",
           "standard normal entries",
           "exp(-x^2/2) / sqrt(2 pi)",
           {},
           normal_kurtosis,
           fill_normal},
};

// Hexadecimal is exact, so that two laws have one text only where they have the same numbers.
void append_number(std::string& text, double number) {
  std::array<char, 48> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::hex)
          .ptr;
  text.append(digits.data(), end).push_back(',');
}

bool has_moments(const Law& law, int order) {
  return !law.row->moments_below || order < law.row->moments_below(law.parameters);
}

std::string identity_text(const Law& law) {
  std::string text(law.row->name);
  text.push_back('(');
  for (const double parameter : law.parameters) append_number(text, parameter);
  append_number(text, law.mean);
  append_number(text, law.sd);
  text.back() = ')';
  return text;
}

}  // namespace

std::span<const LawRow> law_table() {
  return kLaws;
}

const LawRow* find_law(std::string_view name) {
  for (const LawRow& row : kLaws) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

ScoreMoments score_moments(const Entries& entries, std::int64_t d) {
  const Law& q = entries.queries;
  const Law& k = entries.keys;
  const auto size = static_cast<double>(d);
  const double variance_per_entry =
      q.sd * q.sd * k.sd * k.sd + q.mean * q.mean * k.sd * k.sd + k.mean * k.mean * q.sd * q.sd;
  const bool centred = q.mean == 0 && k.mean == 0;
  const double kurtosis_product = q.row->kurtosis(q.parameters) * k.row->kurtosis(k.parameters);
  return {size * q.mean * k.mean, std::sqrt(size * variance_per_entry),
          centred ? 3 + (kurtosis_product - 3) / size : std::numeric_limits<double>::quiet_NaN()};
}

bool has_moments(const Entries& entries, int order) {
  return has_moments(entries.queries, order) && has_moments(entries.keys, order);
}

std::string identity_text(const Entries& entries) {
  return "queries=" + identity_text(entries.queries) + ";keys=" + identity_text(entries.keys);
}

}  // namespace attnscale
