#include "config/config_fields.h"

#include <algorithm>

#include "config/config_choices.h"
#include "config/config_landing.h"
#include "config/config_reader.h"
#include "config/entries_object.h"
#include "config/stop_object.h"

namespace attnscale {
namespace {

constexpr double kLargestSeed = 9007199254740991.0;  // 2^53 - 1, exact in every JSON reader

std::vector<std::string_view> histogram_names() {
  std::vector<std::string_view> names = {"score", "logit"};
  for (const MetricRow& row : metric_table()) {
    if (row.kind == MetricKind::kPerQuery) names.push_back(row.name);
  }
  return names;
}

using enum FieldPlace;
using enum FieldType;
using enum FieldUse;

std::vector<ConfigField> make_table() {
  const FieldBounds d_bounds = limits_of_samplers(&SamplerRow::max_d);
  const FieldBounds keys_bounds = limits_of_samplers(&SamplerRow::max_keys);
  // clang-format off: a row of the table stays two or three lines.
  return {
      {kInConfig, "$schema", kText, kOptional, "", into_nothing,
       "Path of the JSON Schema, for editors."},
      {kInConfig, "name", kName, kRequired, "", into_config<&Config::name>,
       "Name of the run and of its folder in results/."},
      {kInConfig, "description", kText, kOptional, R"("")", into_config<&Config::description>,
       "Free text."},
      {kInConfig,
       "seed",
       kInteger,
       kOptional,
       "0",
       into_config<&Config::seed>,
       "Where the random numbers start: the same seed draws the same numbers.",
       {0, kLargestSeed}},
      {kInConfig,
       "sampler",
       kChoice,
       kOptional,
       "",
       into_draft<&ConfigDraft::sampler>,
       "How scores are drawn, for experiments that do not say it themselves.",
       {},
       {"sampler", sampler_names}},
      {kInConfig,
       "reference",
       kChoice,
       kOptional,
       R"("auto")",
       into_config<&Config::reference>,
       "Exact values beside the estimates where theory knows them.",
       {},
       {"reference", reference_names}},
      {kInConfig, "experiments", kExperiments, kRequired, "", land_experiments,
       "What is drawn and measured."},

      {kInExperiment, "name", kName, kOptional, "", into_experiment<&Experiment::name>,
       "Name in the column experiment; by default experiment_1, experiment_2, ... by position."},
      {kInExperiment, "given", kGiven, kOptional, "", land_given,
       "Numbers to use instead of drawn ones."},
      // Before d, keys and entries, whose limits are the sampler's.
      {kInExperiment,
       "sampler",
       kChoice,
       kIfDrawn,
       "",
       into_experiment<&Experiment::sampler>,
       "How scores are drawn; by default as the whole config says.",
       {},
       {"sampler", sampler_names}},
      {kInExperiment, "d", kIntegerAxis, kRequiredIfDrawn, "",
       into_axis<&Experiment::d, &SamplerRow::max_d>,
       "Head size: how many numbers one query and one key hold.", d_bounds},
      {kInExperiment, "keys", kIntegerAxis, kIfDrawn, "1",
       into_axis<&Experiment::keys, &SamplerRow::max_keys>,
       "How many keys each query is scored against.", keys_bounds},
      {kInExperiment,
       "entries",
       kEntries,
       kIfDrawn,
       R"("normal")",
       land_entries,
       "Law of the numbers in queries and keys.",
       {},
       {"law", law_names}},
      {kInExperiment,
       "queries",
       kInteger,
       kIfDrawn,
       "10000",
       into_experiment<&Experiment::queries>,
       "Independent queries of every cell.",
       {1, kMostQueries}},
      {kInExperiment,
       "scalings",
       kScalings,
       kOptional,
       R"(["none", "div_sqrt_d", "div_d"])",
       land_scalings,
       "Rules that turn a score into a logit, all on the same draws.",
       {},
       {"scaling", scaling_names}},
      {kInExperiment,
       "metrics",
       kMetrics,
       kDefaultIfDrawn,
       R"(["logit_sd", "top_weight", "slope"])",
       land_metrics,
       "What is measured; \"all\" takes every metric that applies.",
       {},
       {"metric", metric_names}},
      {kInExperiment,
       "saturated_above",
       kNumber,
       kOptional,
       "0.99",
       into_experiment<&Experiment::saturated_above>,
       "Threshold of the metric saturated.",
       {0, 1, Ends::kBothExcluded}},
      {kInExperiment,
       "histogram",
       kChoiceList,
       kIfDrawn,
       "",
       land_histogram,
       "What goes to histogram.csv: score, logit, or metrics of this experiment.",
       {},
       {"histogram", histogram_names}},
      {kInExperiment,
       "samples",
       kInteger,
       kIfDrawn,
       "0",
       into_experiment<&Experiment::samples>,
       "How many of the first queries go to samples.csv.",
       {0, kMostQueries}},
      // After queries, scalings, metrics and samples, which it is checked against.
      {kInExperiment, "stop", kStop, kIfDrawn, "", land_stop,
       "How precise is enough: a cell stops there, and after so many queries at the latest."},

  };
  // clang-format on
}

const std::vector<ConfigField>& table() {
  static const std::vector<ConfigField> fields = [] {
    std::vector<ConfigField> all = make_table();
    return all;
  }();
  return fields;
}

}  // namespace

std::span<const ConfigField> fields_of(FieldPlace place) {
  const auto has_place = [place](const ConfigField& field) { return field.place == place; };
  const auto first = std::find_if(table().begin(), table().end(), has_place);
  const auto last = std::find_if_not(first, table().end(), has_place);
  return {first, last};
}

const ConfigField* find_field(FieldPlace place, std::string_view name) {
  for (const ConfigField& field : fields_of(place)) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

std::vector<std::string_view> field_names(FieldPlace place) {
  std::vector<std::string_view> names;
  for (const ConfigField& field : fields_of(place)) names.push_back(field.name);
  return names;
}

}  // namespace attnscale
