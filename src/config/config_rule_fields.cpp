// The fields of what a config says about laws and scalings: rows of the field table.
#include "config/config_choices.h"
#include "config/config_landing.h"
#include "config/config_reader.h"

namespace attnscale {
namespace {

constexpr double kLargestMultiplier = 1e9;
constexpr double kLargestPower = 8;
constexpr double kLargestEntry = 1e6;
constexpr double kLargestSize = 1e15;

using enum FieldPlace;
using enum FieldType;
using enum FieldUse;

// What a law is told by, for both sides or for one.

ConfigField law_name_field(FieldPlace place) {
  return {place,
          "law",
          kChoice,
          kOptional,
          R"("normal")",
          into_law<&LawDraft::row>,
          "Name of the law.",
          {},
          {"law", law_names}};
}

ConfigField mean_field(FieldPlace place) {
  return {place,
          "mean",
          kNumberAxis,
          kOptional,
          "0",
          into_law<&LawDraft::mean>,
          "Mean of an entry.",
          {-kLargestEntry, kLargestEntry}};
}

ConfigField sd_field(FieldPlace place) {
  return {place,
          "sd",
          kNumberAxis,
          kOptional,
          "1",
          into_law<&LawDraft::sd>,
          "Spread of an entry.",
          {0, kLargestEntry, Ends::kLeastExcluded}};
}

}  // namespace

std::vector<ConfigField> rule_fields(const FieldBounds& keys_bounds) {
  return {
      // The parameters of the law stand beside these.
      law_name_field(kInEntries),
      {kInEntries, "name", kName, kOptional, "", into_entries<&EntriesDraft::name>,
       "Name in the column entries; by default the law's."},
      mean_field(kInEntries),
      sd_field(kInEntries),
      {kInEntries,
       "queries",
       kLaw,
       kOptional,
       "",
       land_law,
       "Law of the queries' entries, where the keys have another.",
       {},
       {"law", law_names}},
      {kInEntries,
       "keys",
       kLaw,
       kOptional,
       "",
       land_law,
       "Law of the keys' entries, where the queries have another.",
       {},
       {"law", law_names}},
      {kInEntries,
       "alignment",
       kNumberAxis,
       kOptional,
       "0",
       into_entries<&EntriesDraft::alignment>,
       "Correlation of each key entry with the query's: the mean score is d times this, times both "
       "spreads.",
       {-1, 1}},
      {kInEntries, "aligned_keys", kIntegerAxis, kOptional, "",
       into_entries<&EntriesDraft::aligned_keys>,
       "How many of the keys are aligned, the first ones; by default all.", keys_bounds},

      // One side's law, with the parameters beside these.
      law_name_field(kInLaw),
      mean_field(kInLaw),
      sd_field(kInLaw),

      // The numbers of the scaling that it is like stand beside these.
      {kInScaling, "name", kName, kOptional, "", into_scaling<&ScalingDraft::name>,
       "Name in the column scaling; may be left out beside like or preset as they are."},
      {kInScaling,
       "like",
       kChoice,
       kOptional,
       "",
       land_scaling_row,
       "The named scaling to start from; by default the score itself.",
       {},
       {"scaling", scaling_names}},
      {kInScaling,
       "preset",
       kChoice,
       kOptional,
       "",
       land_scaling_row,
       "The same as like, for those that are models' and papers'.",
       {},
       {"preset", scaling_names}},
      {kInScaling,
       "multiplier",
       kNumberAxis,
       kOptional,
       "",
       into_scaling<&ScalingDraft::multiplier>,
       "Multiplies the logit.",
       {-kLargestMultiplier, kLargestMultiplier}},
      {kInScaling,
       "d_power",
       kNumberAxis,
       kOptional,
       "",
       into_scaling<&ScalingDraft::d_power>,
       "Multiplies the logit by this power of d: -0.5 divides by sqrt(d).",
       {-kLargestPower, kLargestPower}},
      {kInScaling,
       "d",
       kIntegerAxis,
       kOptional,
       "",
       into_scaling<&ScalingDraft::d>,
       "The d of that power, in place of the cell's.",
       {1, kLargestSize}},
      {kInScaling, "log_keys", kBoolean, kOptional, "", into_log_keys,
       "Multiplies the logit by the logarithm of the number of keys."},
      {kInScaling,
       "log_keys_base",
       kNumberAxis,
       kOptional,
       "",
       into_scaling<&ScalingDraft::log_keys_base>,
       "Base of that logarithm; e where not said.",
       {1, kLargestSize, Ends::kLeastExcluded}},
      {kInScaling,
       "softcap",
       kNumberAxis,
       kOptional,
       "",
       into_scaling<&ScalingDraft::softcap>,
       "Bends the logit x to softcap tanh(x / softcap), after all factors.",
       {0, kLargestMultiplier, Ends::kLeastExcluded, "leave softcap out for no cap"}},
      {kInScaling,
       "norm",
       kChoice,
       kOptional,
       "",
       into_scaling_word<&ScalingChanges::norm, kNormNames>,
       "Acts on queries and keys before the product: rms divides by the root of the mean square, "
       "cosine by the length.",
       {},
       {"norm", norm_names}},
      {kInScaling,
       "gain",
       kGain,
       kOptional,
       "",
       land_gain,
       "Multiplies queries and keys after their norm: one number for each of both, or [of queries, "
       "of keys]; several are [[a], [b]].",
       {0, kLargestMultiplier, Ends::kLeastExcluded,
        "for logits of the other sign write a negative multiplier"}},
      {kInScaling,
       "normaliser",
       kNormaliser,
       kOptional,
       "",
       land_normaliser,
       "What turns logits into weights: softmax, softmax with a sink of this logit, or the sigmoid "
       "of logit plus this number.",
       {-kLargestEntry, kLargestEntry}},
      {kInScaling,
       "precision",
       kChoice,
       kOptional,
       "",
       into_scaling_word<&ScalingChanges::precision, kPrecisionNames>,
       "Rounds every step from the score to the weight to this precision; float64 by default.",
       {},
       {"precision", precision_names}},
      {kInScaling,
       "scale_order",
       kChoice,
       kOptional,
       "",
       into_scaling_word<&ScalingChanges::scale_order, kScaleOrderNames>,
       "Whether the factor acts before the product of query and key or after it (the default), "
       "where the score itself must be a number of the precision.",
       {},
       {"order", scale_order_names}},
      {kInScaling, "subtract_max", kBoolean, kOptional, "", into_max_shift,
       "Whether the largest logit is subtracted before exponentials are taken; true by default."},
  };
}

}  // namespace attnscale
