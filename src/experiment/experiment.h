// What a config asks for, as plain validated values: axes, scalings and metrics by name, resolved
// to rows of their tables; and what these together ask for. Knows nothing of JSON.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "draw/sampler.h"
#include "draw/wider_norms.h"
#include "experiment/given_matrix.h"
#include "experiment/metric.h"
#include "experiment/presets.h"

namespace attnscale {

/// Random queries and keys beside given ones: of normal entries of mean 0 and spread 1, and of
/// those with the mean and spread of each head's own.
struct Baselines {
  bool normal = false;
  bool matched = false;

  bool any() const { return normal || matched; }

  friend bool operator==(const Baselines&, const Baselines&) = default;
};

/// Numbers that are not drawn: either scores, or queries and keys (and values). Heads of queries
/// may share those of all else.
struct Given {
  MatrixLayout layout = MatrixLayout::kHeadsFirst;  ///< of queries, keys and values in files
  std::optional<NumberFormat> dtype;                ///< of files that hold bits alone
  std::optional<std::int64_t> d;                    ///< for scores, if a scaling needs it
  GivenMatrix scores;                  ///< one row per query; rows may differ in length
  GivenMatrix queries;                 ///< rows of d numbers
  GivenMatrix keys;                    ///< rows of d numbers
  GivenMatrix values;                  ///< one row per key; may be empty
  bool causal = false;                 ///< query i sees the keys up to i + keys - queries
  std::optional<std::int64_t> window;  ///< it sees fewer than so many places from there
  GivenMatrix mask;                    ///< one number per query, or for all of them, and key
  bool mask_adds =
      false;  ///< 0 sees and what is at least kMaskedBelow low hides; else 1 sees and 0 hides
  GivenMatrix bias;                    ///< laid out as the mask is; added to the logits
  std::optional<double> masked_below;  ///< scores and biases of at most this hide their keys
  bool weights = true;                 ///< whether weights and outputs are written
  Baselines baseline;                  ///< random queries and keys that are measured beside them

  friend bool operator==(const Given&, const Given&) = default;
};

/// Masks that are added have finite numbers as low as this where -inf is meant.
inline constexpr double kMaskedBelow = -1e4;

/// The matrices that may be in files.
inline constexpr std::array kGivenMatrices = {&Given::scores, &Given::queries, &Given::keys,
                                              &Given::values, &Given::mask,    &Given::bias};

/// Parts of given numbers that get lines of their own: each head, each query of a head.
enum class GivenPart { kHead, kQuery };
inline constexpr std::array<std::string_view, 2> kGivenPartNames = {"head", "query"};

/// What a histogram counts: all scores, all logits, or the values of a per-query metric.
enum class HistogramOf { kScores, kLogits, kMetric };

struct HistogramQuantity {
  HistogramOf of = HistogramOf::kScores;
  const MetricRow* metric = nullptr;  ///< of kMetric

  /// "score", "logit" or the metric's name.
  std::string_view name() const;

  friend bool operator==(const HistogramQuantity&, const HistogramQuantity&) = default;
};

/// The quantity of that name, or nothing.
std::optional<HistogramQuantity> find_histogram_quantity(std::string_view name);

/// How precise a metric must be before a cell stops drawing. The error is half the width of the
/// interval at `confidence`; exactly one of the two errors is set.
struct PrecisionTarget {
  const MetricRow* metric = nullptr;
  std::optional<double> relative_error;  ///< of the estimate's magnitude
  std::optional<double> absolute_error;
  double confidence = 0.95;
  std::optional<std::string> scaling;  ///< those of that name; all if empty
  std::int64_t min_queries = 0;        ///< never stops with fewer

  friend bool operator==(const PrecisionTarget&, const PrecisionTarget&) = default;
};

/// One entry of a config's `experiments`. Drawn experiments have `d`, `keys` and `entries`; given
/// ones have `given`.
struct Experiment {
  std::string name;
  std::vector<Entries> entries;
  std::vector<std::int64_t> d;
  std::vector<std::int64_t> keys;
  std::int64_t queries = 0;             ///< of every cell; with `stop` at most
  std::optional<PrecisionTarget> stop;  ///< of drawn experiments
  const SamplerRow* sampler = nullptr;
  std::vector<Scaling> scalings;
  std::vector<const MetricRow*> metrics;  ///< for `given`, empty unless the config names some
  double saturated_above = 0.99;
  std::vector<HistogramQuantity> histogram;
  std::int64_t samples = 0;  ///< how many first queries go to samples.csv
  std::optional<Given> given;
  std::vector<GivenPart> by;  ///< with `given`: which parts have a file of their own

  friend bool operator==(const Experiment&, const Experiment&) = default;
};

/// Whether exact values are computed beside the estimates.
enum class ReferenceMode { kAuto, kOff };

/// A whole run, resolved: every default filled in.
struct Config {
  std::string name;
  std::string description;
  std::uint64_t seed = 0;
  ReferenceMode reference = ReferenceMode::kAuto;
  std::vector<Experiment> experiments;

  friend bool operator==(const Config&, const Config&) = default;
};

bool is_split_by(const Experiment& experiment, GivenPart part);

/// What a scaling asks of a sampler beside scores.
NormRequest norms_for(const Scaling& scaling);

/// How the scaling takes products of rounded entries, at that size; nothing if it does not.
/// Precondition: bare_queries gives a factor if queries are rounded once scaled.
std::optional<ProductRule> product_rule(const Scaling& scaling, const FormulaSize& size);

/// The same in float64 of the same stored entries, with which it is compared; nothing where these
/// are the entries as drawn.
std::optional<ProductRule> exact_product_rule(const Scaling& scaling);

/// Vectors whose norms the scaling takes, at head size d: those of d entries but for rms(q, width);
/// 0 where the width is no number of entries up to kWidestVector.
WiderVectors vectors_of(const Scaling& scaling, std::int64_t d);

/// The per-query metrics of an experiment, in the order it names them.
std::vector<const MetricRow*> per_query_metrics(const Experiment& experiment);

/// How many powers of a logit the experiment's statistics of logits need: 0, 2 or 4.
int logit_powers(const Experiment& experiment);

/// True if the metric needs all logits of a query whose weights are made so.
bool needs_all_logits(const MetricRow& metric, const WeightRule& rule);

/// The same for any metric and scaling of the experiment.
bool needs_all_logits(const Experiment& experiment);

/// True if a metric compares weights or logits with those in float64.
bool asks_for_exact_weights(const Experiment& experiment);

/// Keys of a query whose logits are held at once: 8 MB for a group of the fewest queries.
inline constexpr std::int64_t kMostKeysHeld = std::int64_t{1} << 17;

}  // namespace attnscale
