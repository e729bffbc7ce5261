// How the numbers of a query or key are distributed. One row of the table is one law; the config,
// the schema, `attnscale list laws`, the samplers and the table-wide tests all read that table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "numerics/random_stream.h"

namespace attnscale {

/// One number that shapes a law, such as the degrees of freedom of Student's t.
struct LawParameter {
  std::string_view name;
  double above;           ///< exclusive lower bound
  double at_most;         ///< inclusive upper bound
  std::string_view help;  ///< one line, for `list laws` and the schema
};

/// A distribution of mean 0 and spread 1.
struct LawRow {
  std::string_view name;
  std::string_view help;                     ///< one line
  std::string_view formula;                  ///< density or construction, in ASCII
  std::span<const LawParameter> parameters;  ///< all required, in the order `fill` takes them
  /// E[x^4] of the standardised law: 3 for the normal law, infinity where it does not exist.
  double (*kurtosis)(std::span<const double> parameters);
  /// Fills `out` with independent draws of mean 0 and spread 1.
  void (*fill)(std::span<const double> parameters, RandomStream& words, std::span<double> out);
  /// E|x|^k exists for k below this number; nullptr where every moment does.
  double (*moments_below)(std::span<const double> parameters) = nullptr;
};

std::span<const LawRow> law_table();

/// The row of that name, or nullptr.
const LawRow* find_law(std::string_view name);

/// A law with its numbers filled in: entries are mean + sd * x with x drawn from the row.
struct Law {
  const LawRow* row = nullptr;
  std::vector<double> parameters;
  double mean = 0;
  double sd = 1;

  friend bool operator==(const Law&, const Law&) = default;
};

/// What queries and keys of one cell are drawn from.
struct Entries {
  std::string name;             ///< what the column `entries` shows
  std::optional<double> value;  ///< the number of a sweep, for the column `entries_value`
  Law queries;
  Law keys;

  friend bool operator==(const Entries&, const Entries&) = default;
};

/// Exact moments of the score q.k of d independent entries.
struct ScoreMoments {
  double mean;
  double sd;
  double kurtosis;  ///< not excess: 3 for a normal score; infinity where it does not exist
};

/// For independent entries of any law: mean d mu_q mu_k and variance
/// d (sq^2 sk^2 + mu_q^2 sk^2 + mu_k^2 sq^2); for centred entries kurtosis 3 + (kq kk - 3) / d,
/// NaN where the entries have a mean (no closed form is used).
ScoreMoments score_moments(const Entries& entries, std::int64_t d);

/// True where the score has an absolute moment of that order, 0 or above.
bool has_moments(const Entries& entries, int order);

/// A text that is equal exactly for laws that draw the same numbers, with every parameter in full.
std::string identity_text(const Entries& entries);

}  // namespace attnscale
