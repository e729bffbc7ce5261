#include "draw/entries.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "numerics/portable_math.h"

namespace attnscale {
namespace {

// What alignment adds to the variance of the product of an entry of the query and one of a key.
double added_variance(const Entries& entries) {
  const Law& q = entries.queries;
  const Law& k = entries.keys;
  const double rho = entries.alignment;
  if (rho == 0) return 0;  // an infinite kurtosis times 0 would be NaN
  const double spread = q.sd * k.sd;
  return rho * rho * (q.row->kurtosis(q.parameters) - 2) * spread * spread +
         2 * rho * q.mean * k.mean * spread;
}

double score_kurtosis(const Entries& entries, double d, std::int64_t keys) {
  const Law& q = entries.queries;
  const Law& k = entries.keys;
  if (q.mean != 0 || k.mean != 0) return kNan;
  if (entries.alignment == 0 || aligned_of(entries, keys) == 0) {
    return 3 + (q.row->kurtosis(q.parameters) * k.row->kurtosis(k.parameters) - 3) / d;
  }
  if (aligned_of(entries, keys) < keys || !is_centred_normal(q) || !is_centred_normal(k)) {
    return kNan;
  }
  const double rho2 = entries.alignment * entries.alignment;
  return 3 + 6 * (1 + 6 * rho2 + rho2 * rho2) / (d * (1 + rho2) * (1 + rho2));
}

bool has_moments(const Law& law, int order) {
  return law.row->moments_below == nullptr || order < law.row->moments_below(law.parameters);
}

// Hexadecimal is exact, so that two laws have one text only where they have the same numbers.
std::string exact_text(double number) {
  std::array<char, 48> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::hex)
          .ptr;
  return {digits.data(), end};
}

std::string identity_text(const Law& law) {
  std::string text = std::string(law.row->name) + "(";
  for (const double parameter : law.parameters) text += exact_text(parameter) + ",";
  return text + exact_text(law.mean) + "," + exact_text(law.sd) + ")";
}

}  // namespace

std::int64_t aligned_of(const Entries& entries, std::int64_t keys) {
  return std::min(entries.aligned_keys.value_or(keys), keys);
}

double kept_share(double alignment) {
  return std::sqrt((1 - alignment) * (1 + alignment));
}

ScoreMoments score_moments(const Entries& entries, std::int64_t d, std::int64_t keys) {
  const Law& q = entries.queries;
  const Law& k = entries.keys;
  const auto size = static_cast<double>(d);
  const std::int64_t aligned = aligned_of(entries, keys);
  const double share = static_cast<double>(aligned) / static_cast<double>(keys);
  double variance_per_entry =
      q.sd * q.sd * k.sd * k.sd + q.mean * q.mean * k.sd * k.sd + k.mean * k.mean * q.sd * q.sd;
  if (aligned > 0) variance_per_entry += share * added_variance(entries);
  // Two kinds of scores mixed, `share` of them aligned: their means are this far apart.
  const double apart = size * entries.alignment * q.sd * k.sd;
  return {size * q.mean * k.mean + share * apart,
          std::sqrt(size * variance_per_entry + share * (1 - share) * apart * apart),
          score_kurtosis(entries, size, keys)};
}

bool has_moments(const Entries& entries, int order) {
  const int of_query = entries.alignment == 0 ? order : 2 * order;
  return has_moments(entries.queries, of_query) && has_moments(entries.keys, order);
}

std::string identity_text(const Entries& entries) {
  std::string text =
      "queries=" + identity_text(entries.queries) + ";keys=" + identity_text(entries.keys);
  if (entries.alignment == 0) return text;
  text += ";alignment=" + exact_text(entries.alignment);
  if (entries.aligned_keys) text += ";aligned_keys=" + std::to_string(*entries.aligned_keys);
  return text;
}

}  // namespace attnscale
