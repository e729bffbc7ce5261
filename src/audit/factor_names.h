// What a factor before q.k usually is: one table of what people multiply scores by, rightly or not,
// in terms of a model's sizes. Knows nothing of files or screens.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace attnscale {

struct NamedFactor {
  std::string name;
  double factor;
  bool is_square;  ///< its multiplier of 1/sqrt(d) is a square, as YaRN's m^2
};

/// What is known of a model. Sizes are at least 1.
struct ModelSizes {
  double d = 1;                           ///< head size of queries and keys
  std::optional<double> d_model = {};     ///< the model's width
  std::optional<double> heads = {};       ///< of queries
  std::optional<double> key_heads = {};   ///< shared by the heads of queries
  std::optional<double> padded_d = {};    ///< head size as a kernel pads it
  std::optional<double> value_d = {};     ///< head size of the values
  std::optional<double> latent_d = {};    ///< that keys and values are computed from
  std::optional<double> rope_d = {};      ///< part of the head size that is rotated
  std::optional<double> layers = {};      ///< of the model
  std::optional<double> layer = {};       ///< the one that was measured
  std::optional<double> tokens = {};      ///< keys
  std::optional<double> gain = {};        ///< that norms of queries and of keys learned
  std::vector<NamedFactor> presets = {};  ///< what models multiply q.k by at this head size
  double meant = 1;                       ///< the factor that is meant times sqrt(d)
  bool is_meant_square = true;            ///< it is, or may be, a square
  std::string meant_name = "1/sqrt(d)";
};

/// One explanation of a factor; twins, which give the same number, are merged.
struct FactorName {
  std::string name;  ///< such as "scaled twice (q.k / d)"
  double factor;     ///< what q.k is multiplied by
  bool is_guess;     ///< of a size that nobody gave
  bool is_meant;     ///< it is the factor that is meant
};

/// Every explanation that the sizes allow, the nearest to `factor` first. Those within a relative
/// `tolerance` of each other are one, its names in the order of the table.
std::vector<FactorName> factor_names(const ModelSizes& sizes, double factor, double tolerance);

/// The same of a factor of cos(q, k), where norms are taken; `meant` says whether one is meant.
std::vector<FactorName> cosine_names(const ModelSizes& sizes, double factor, bool meant);

/// |ln(factor / explanation)|, and infinity where their signs differ.
double factor_distance(double factor, double explanation);

}  // namespace attnscale
