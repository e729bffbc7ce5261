#include "draw/entries.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "draw/entry_moments.h"
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

// With the kurtoses of centred entries.
double score_kurtosis(const Entries& entries, double of_query, double of_key, double d,
                      std::int64_t keys) {
  const Law& q = entries.queries;
  const Law& k = entries.keys;
  if (q.mean != 0 || k.mean != 0) return kNan;
  if (entries.alignment == 0 || aligned_of(entries, keys) == 0) {
    return 3 + (of_query * of_key - 3) / d;
  }
  if (aligned_of(entries, keys) < keys || !is_centred_normal(q) || !is_centred_normal(k)) {
    return kNan;
  }
  const double rho2 = entries.alignment * entries.alignment;
  return 3 + 6 * (1 + 6 * rho2 + rho2 * rho2) / (d * (1 + rho2) * (1 + rho2));
}

bool has_moments(const Law& law, int order) {
  return law.is_clipped() || law.row->moments_below == nullptr ||
         order < law.row->moments_below(law.parameters);
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
  text += exact_text(law.mean) + "," + exact_text(law.sd);
  if (law.is_clipped()) text += ",clip=" + exact_text(law.clip);
  return text + ")";
}

}  // namespace

std::vector<EntriesBlock> blocks_of(const Entries& entries, std::int64_t d) {
  if (!entries.blocks.empty()) return entries.blocks;
  return {{d, entries.queries, entries.keys}};
}

bool is_centred_normal(const Entries& entries) {
  return entries.blocks.empty() && is_centred_normal(entries.queries) &&
         is_centred_normal(entries.keys);
}

bool has_atoms(const Entries& entries) {
  const std::vector<EntriesBlock> blocks = blocks_of(entries, 1);
  return std::ranges::any_of(blocks, [](const EntriesBlock& block) {
    return block.queries.has_atoms() || block.keys.has_atoms();
  });
}

std::int64_t aligned_of(const Entries& entries, std::int64_t keys) {
  return std::min(entries.aligned_keys.value_or(keys), keys);
}

double kept_share(double alignment) {
  return std::sqrt((1 - alignment) * (1 + alignment));
}

ScoreMoments score_moments(const Entries& entries, std::int64_t d, std::int64_t keys) {
  constexpr int kKurtosis = 4;
  const EntryMoments q = entry_moments(entries.queries, kKurtosis);
  const EntryMoments k =
      entries.keys == entries.queries ? q : entry_moments(entries.keys, kKurtosis);
  const auto size = static_cast<double>(d);
  const std::int64_t aligned = aligned_of(entries, keys);
  const double share = static_cast<double>(aligned) / static_cast<double>(keys);
  double variance_per_entry =
      q.sd * q.sd * k.sd * k.sd + q.mean * q.mean * k.sd * k.sd + k.mean * k.mean * q.sd * q.sd;
  if (aligned > 0) variance_per_entry += share * added_variance(entries);
  // Two kinds of scores mixed, `share` of them aligned: their means are this far apart.
  const double apart = size * entries.alignment * q.sd * k.sd;
  return {
      size * q.mean * k.mean + share * apart,
      std::sqrt(size * variance_per_entry + share * (1 - share) * apart * apart),
      score_kurtosis(entries, q.standardised[kKurtosis], k.standardised[kKurtosis], size, keys)};
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
