// How the numbers of a query or key are distributed. One row of the table is one law; the config,
// the schema, `attnscale list laws`, the samplers and the table-wide tests all read that table.
#pragma once

#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "numerics/entry_shape.h"
#include "numerics/random_stream.h"

namespace attnscale {

/// One number that shapes a law, such as the degrees of freedom of Student's t.
struct LawParameter {
  std::string_view name;
  double above;           ///< exclusive lower bound
  double at_most;         ///< inclusive upper bound
  std::string_view help;  ///< one line, for `list laws`, the schema and refusals of a value
};

/// A symmetric distribution of mean 0 and spread 1.
struct LawRow {
  std::string_view name;
  std::string_view help;                          ///< one line
  std::string_view formula;                       ///< density or construction, in ASCII
  std::span<const LawParameter> parameters = {};  ///< all required, in the order `fill` takes them
  /// E[x^(2 half)] of the standardised law, half from 1 to 12; infinity if it does not exist.
  double (*even_moment)(std::span<const double> parameters, int half);
  /// How the vector kernels draw the standardised law.
  EntryShape (*shape)(std::span<const double> parameters);
  /// The same law one by one, to be read and trusted: fills `out` with independent draws, a
  /// function of the words alone. Of libm only square roots are used.
  void (*fill)(std::span<const double> parameters, RandomStream& words, std::span<double> out);
  /// E|x|^k exists for k below this number; nullptr if every moment exists.
  double (*moments_below)(std::span<const double> parameters) = nullptr;
  /// True if single values have a positive probability, so that scores may be equal.
  bool has_atoms = false;

  /// E[x^4] of the standardised law: 3 for the normal law, infinity if it does not exist.
  double kurtosis(std::span<const double> numbers) const { return even_moment(numbers, 2); }
};

std::span<const LawRow> law_table();

/// The row of that name, or nullptr.
const LawRow* find_law(std::string_view name);

/// A law with its numbers filled in: entries are mean + sd * x with x drawn from the row, but
/// `clip` or -clip where that is beyond it.
struct Law {
  const LawRow* row = nullptr;
  std::vector<double> parameters;
  double mean = 0;
  double sd = 1;
  double clip = std::numeric_limits<double>::infinity();

  bool is_clipped() const { return clip < std::numeric_limits<double>::infinity(); }
  bool has_atoms() const { return row->has_atoms || is_clipped(); }

  friend bool operator==(const Law&, const Law&) = default;
};

/// How the vector kernels draw the law's entries.
EntryShape entry_shape(const Law& law);

/// Normal entries of mean 0, not clipped, whose scores are independent normals once the query is
/// known.
bool is_centred_normal(const Law& law);

}  // namespace attnscale
