// The fields of what a config says about laws and scalings: rows of the field table.
#include "config/config_choices.h"
#include "config/config_landing.h"
#include "config/config_reader.h"

namespace attnscale {
namespace {

constexpr double kLargestEntry = 1e6;

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

  };
}

}  // namespace attnscale
