// What the queries and keys of a cell are drawn from: a law for each side, and how closely keys
// follow their query. Exact moments of the scores. Knows nothing of samplers or config.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "draw/law.h"

namespace attnscale {

/// Part of a head: d entries with laws of their own.
struct EntriesBlock {
  std::int64_t d;
  Law queries;
  Law keys;

  friend bool operator==(const EntriesBlock&, const EntriesBlock&) = default;
};

/// With x and y standardised entries of query and key, independent of each other: a query's entry
/// is mean + sd x; a key's is mean + sd y, or of an aligned key
/// mean + sd (alignment x + sqrt(1 - alignment^2) y), so that its correlation with the query's
/// entry is the alignment and its spread stays sd.
struct Entries {
  std::string name;             ///< what the column `entries` shows
  std::optional<double> value;  ///< the number of a sweep, for the column `entries_value`
  Law queries;                  ///< of all entries where there are no blocks
  Law keys;
  double alignment = 0;  ///< from -1 to 1; 0 where entries are clipped or in blocks
  std::optional<std::int64_t> aligned_keys =
      std::nullopt;                       ///< how many, the first ones; all keys if empty
  std::vector<EntriesBlock> blocks = {};  ///< that make up the head, in order; or none

  friend bool operator==(const Entries&, const Entries&) = default;
};

/// The blocks of a head of d entries; without blocks all entries are one.
std::vector<EntriesBlock> blocks_of(const Entries& entries, std::int64_t d);

/// Normal entries of mean 0 on both sides, neither clipped nor in blocks.
bool is_centred_normal(const Entries& entries);

/// True if scores may be equal.
bool has_atoms(const Entries& entries);

/// How many of a query's `keys` keys are aligned with it, whatever the alignment.
std::int64_t aligned_of(const Entries& entries, std::int64_t keys);

/// sqrt(1 - alignment^2): the share that an aligned key keeps of its own entry.
double kept_share(double alignment);

/// Exact moments of the score of a random query and any of its keys.
struct ScoreMoments {
  double mean;
  double sd;        ///< infinity if it does not exist
  double kurtosis;  ///< not excess: 3 for a normal score; infinity if it does not exist
};

/// Moments of the scores of d entries and `keys` keys per query. With independent entries: mean
/// d mu_q mu_k, variance d (sq^2 sk^2 + mu_q^2 sk^2 + mu_k^2 sq^2), and for centred entries
/// kurtosis 3 + (kq kk - 3) / d. An aligned key adds d rho sq sk to the mean and
/// d (rho^2 (kq - 2) sq^2 sk^2 + 2 rho mu_q mu_k sq sk) to the variance, as laws are symmetric; if
/// all keys are aligned and the entries centred normal, kurtosis is
/// 3 + 6 (1 + 6 rho^2 + rho^4) / (d (1 + rho^2)^2). Of clipped entries the moments are those that
/// the clip leaves; of blocks, means, variances and fourth cumulants add up. If only some keys are
/// aligned, mean and spread are those of all scores together. Kurtosis is NaN if no closed form is
/// used.
ScoreMoments score_moments(const Entries& entries, std::int64_t d, std::int64_t keys);

/// True if the score has an absolute moment of that order, 0 or above. An aligned key holds the
/// query's entry, whose square is then in the score.
bool has_moments(const Entries& entries, int order);

/// A text with every parameter in full: equal for two entries exactly if they draw the same
/// numbers.
std::string identity_text(const Entries& entries);

}  // namespace attnscale
