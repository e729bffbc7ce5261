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

// The kurtosis of scores of which all keys are aligned.
double aligned_kurtosis(const Entries& entries, double d) {
  if (!is_centred_normal(entries)) return kNan;
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
  const std::int64_t aligned = entries.alignment == 0 ? 0 : aligned_of(entries, keys);
  const double share = static_cast<double>(aligned) / static_cast<double>(keys);
  double mean = 0;
  double variance = 0;
  double apart = 0;  // aligned scores and others, in their means
  bool is_centred = true;
  struct Excess {
    double variance;
    double kurtosis;  // less 3
  };
  std::vector<Excess> excesses;
  for (const EntriesBlock& block : blocks_of(entries, d)) {
    const EntryMoments q = entry_moments(block.queries, kKurtosis);
    const EntryMoments k = block.keys == block.queries ? q : entry_moments(block.keys, kKurtosis);
    const auto size = static_cast<double>(block.d);
    double per_entry =
        q.sd * q.sd * k.sd * k.sd + q.mean * q.mean * k.sd * k.sd + k.mean * k.mean * q.sd * q.sd;
    if (aligned > 0) per_entry += share * added_variance(entries);
    mean += size * q.mean * k.mean;
    variance += size * per_entry;
    apart += size * entries.alignment * q.sd * k.sd;
    is_centred = is_centred && q.mean == 0 && k.mean == 0;
    excesses.push_back(
        {size * per_entry, (q.standardised[kKurtosis] * k.standardised[kKurtosis] - 3) / size});
  }
  ScoreMoments score{mean + share * apart,
                     std::sqrt(variance + share * (1 - share) * apart * apart), kNan};
  if (aligned == keys) {
    score.kurtosis = aligned_kurtosis(entries, static_cast<double>(d));
  } else if (aligned == 0 && is_centred) {
    score.kurtosis = 3;
    for (const Excess& block : excesses) {
      const double part = block.variance / variance;
      score.kurtosis += part * part * block.kurtosis;
    }
  }
  return score;
}

bool has_moments(const Entries& entries, int order) {
  const int of_query = entries.alignment == 0 ? order : 2 * order;
  const std::vector<EntriesBlock> blocks = blocks_of(entries, 1);
  return std::ranges::all_of(blocks, [&](const EntriesBlock& block) {
    return has_moments(block.queries, of_query) && has_moments(block.keys, order);
  });
}

std::string identity_text(const Entries& entries) {
  std::string text;
  for (const EntriesBlock& block : blocks_of(entries, 0)) {
    if (!entries.blocks.empty()) text += "block=" + std::to_string(block.d) + ";";
    text += "queries=" + identity_text(block.queries) + ";keys=" + identity_text(block.keys);
  }
  if (entries.alignment == 0) return text;
  text += ";alignment=" + exact_text(entries.alignment);
  if (entries.aligned_keys) text += ";aligned_keys=" + std::to_string(*entries.aligned_keys);
  return text;
}

}  // namespace attnscale
