#include "app/config_fields.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "app/config_reader.h"
#include "app/config_values.h"

namespace attnscale {
namespace {

constexpr double kLargestSeed = 9007199254740991.0;  // 2^53 - 1, exact in every JSON reader
constexpr double kMostQueries = 1e15;
constexpr double kLargestMultiplier = 1e9;
constexpr double kLargestPower = 8;
constexpr double kLargestEntry = 1e6;
constexpr double kAnyNumber = std::numeric_limits<double>::max();

template <typename Row>
std::vector<std::string_view> row_names(std::span<const Row> table) {
  std::vector<std::string_view> names;
  for (const Row& row : table) names.push_back(row.name);
  return names;
}

std::vector<std::string_view> law_names() {
  return row_names(law_table());
}
std::vector<std::string_view> scaling_names() {
  return row_names(scaling_table());
}
std::vector<std::string_view> metric_names() {
  return row_names(metric_table());
}
std::vector<std::string_view> sampler_names() {
  return row_names(sampler_table());
}
std::vector<std::string_view> reference_names() {
  return {"auto", "off"};
}

std::vector<std::string_view> histogram_names() {
  std::vector<std::string_view> names = {"score", "logit"};
  for (const MetricRow& row : metric_table()) {
    if (row.kind == MetricKind::kPerQuery) names.push_back(row.name);
  }
  return names;
}

/// The largest value that some sampler takes; the real bound is the experiment's own sampler's.
double largest_limit(std::int64_t SamplerRow::*limit) {
  std::int64_t largest = 1;
  for (const SamplerRow& row : sampler_table()) largest = std::max(largest, row.*limit);
  return static_cast<double>(largest);
}

// Short names for the parameters of the functions in the table.
using Value = const JsonValue&;
using Field = const ConfigField&;
using Draft = ConfigDraft&;

// How a value becomes what its place in the draft holds: one function per type of place.

void read_into(Value value, Field field, double& place) {
  place = read_number(value, bounds_of(field));
}
void read_into(Value value, Field field, std::optional<double>& place) {
  place = read_number(value, bounds_of(field));
}
void read_into(Value value, Field field, std::int64_t& place) {
  place = static_cast<std::int64_t>(read_number(value, bounds_of(field)));
}
void read_into(Value value, Field field, std::uint64_t& place) {
  place = static_cast<std::uint64_t>(read_number(value, bounds_of(field)));
}
void read_into(Value value, Field field, std::optional<std::int64_t>& place) {
  place = static_cast<std::int64_t>(read_number(value, bounds_of(field)));
}
void read_into(Value value, Field field, NumberAxis& place) {
  place = read_axis(value, bounds_of(field));
}
void read_into(Value value, Field, std::vector<std::vector<double>>& place) {
  place = read_rows(value);
}
void read_into(Value value, Field field, std::string& place) {
  place = field.type == FieldType::kName ? read_name(value) : read_text(value);
}
void read_into(Value value, Field, std::optional<std::string>& place) {
  place = read_name(value);
}
void read_into(Value value, Field field, const SamplerRow*& place) {
  place = find_sampler(read_choice(value, field));
}
void read_into(Value value, Field field, const LawRow*& place) {
  place = find_law(read_choice(value, field));
}
void read_into(Value value, Field field, std::optional<Scaling>& place) {
  place = find_scaling(read_choice(value, field));
}
void read_into(Value value, Field field, ReferenceMode& place) {
  place = read_choice(value, field) == "off" ? ReferenceMode::kOff : ReferenceMode::kAuto;
}

template <auto member>
void into_draft(Value value, Field field, Draft draft) {
  read_into(value, field, draft.*member);
}
template <auto member>
void into_config(Value value, Field field, Draft draft) {
  read_into(value, field, draft.config.*member);
}
template <auto member>
void into_experiment(Value value, Field field, Draft draft) {
  read_into(value, field, draft.experiment.*member);
}
template <auto member>
void into_entries(Value value, Field field, Draft draft) {
  read_into(value, field, draft.entries.*member);
}
template <auto member>
void into_scaling(Value value, Field field, Draft draft) {
  read_into(value, field, draft.scaling.*member);
}
template <auto member>
void into_range(Value value, Field field, Draft draft) {
  read_into(value, field, draft.range.*member);
}
template <auto member>
void into_given(Value value, Field field, Draft draft) {
  read_into(value, field, draft.given.*member);
}

/// An axis of an experiment, as far as its sampler reaches.
template <auto axis, auto limit>
void into_axis(Value value, Field, Draft draft) {
  const SamplerRow& sampler = *draft.experiment.sampler;
  const NumberBounds bounds = {{1, static_cast<double>(sampler.*limit)},
                               NumberKind::kInteger,
                               "the limit of the sampler " + quote(sampler.name)};
  draft.experiment.*axis = whole_values(read_axis(value, bounds));
}

void into_nothing(Value value, Field, Draft) {
  read_text(value);
}

using enum FieldPlace;
using enum FieldType;
using enum FieldUse;

std::vector<ConfigField> make_table() {
  const FieldBounds d_bounds = {1, largest_limit(&SamplerRow::max_d)};
  const FieldBounds keys_bounds = {1, largest_limit(&SamplerRow::max_keys)};
  const FieldBounds any = {-kAnyNumber, kAnyNumber};
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

      // The parameters of the law stand beside these.
      {kInEntries,
       "law",
       kChoice,
       kOptional,
       R"("normal")",
       into_entries<&EntriesDraft::law>,
       "Name of the law.",
       {},
       {"law", law_names}},
      {kInEntries, "name", kName, kOptional, "", into_entries<&EntriesDraft::name>,
       "Name in the column entries; by default the law's."},
      {kInEntries,
       "mean",
       kNumberAxis,
       kOptional,
       "0",
       into_entries<&EntriesDraft::mean>,
       "Mean of an entry.",
       {-kLargestEntry, kLargestEntry}},
      {kInEntries,
       "sd",
       kNumberAxis,
       kOptional,
       "1",
       into_entries<&EntriesDraft::sd>,
       "Spread of an entry.",
       {0, kLargestEntry, Ends::kLeastExcluded}},

      {kInScaling, "name", kName, kOptional, "", into_scaling<&ScalingDraft::name>,
       "Name in the column scaling; may be left out only beside like alone."},
      {kInScaling,
       "like",
       kChoice,
       kOptional,
       "",
       into_scaling<&ScalingDraft::like>,
       "The named scaling to start from; by default the score itself.",
       {},
       {"scaling", scaling_names}},
      {kInScaling,
       "multiplier",
       kNumberAxis,
       kOptional,
       "1",
       into_scaling<&ScalingDraft::multiplier>,
       "Multiplies the logit.",
       {-kLargestMultiplier, kLargestMultiplier}},
      {kInScaling,
       "d_power",
       kNumberAxis,
       kOptional,
       "0",
       into_scaling<&ScalingDraft::d_power>,
       "Multiplies the logit by this power of d: -0.5 divides by sqrt(d).",
       {-kLargestPower, kLargestPower}},

      {kInRange, "from", kNumber, kRequired, "", into_range<&RangeDraft::from>, "First value.",
       any},
      {kInRange, "to", kNumber, kRequired, "", into_range<&RangeDraft::to>,
       "No value lies behind this one.", any},
      {kInRange,
       "times",
       kNumber,
       kOptional,
       "",
       into_range<&RangeDraft::times>,
       "Each value is the one before times this.",
       {1, kAnyNumber, Ends::kLeastExcluded}},
      {kInRange, "step", kNumber, kOptional, "", into_range<&RangeDraft::step>,
       "Each value is the one before plus this.", any},

      {kInGiven, "scores", kRows, kOptional, "", into_given<&Given::scores>,
       "One row of scores per query."},
      {kInGiven,
       "d",
       kInteger,
       kOptional,
       "",
       into_given<&Given::d>,
       "Head size behind the scores, where a scaling needs it.",
       {1, kMostQueries}},
      {kInGiven, "queries", kRows, kOptional, "", into_given<&Given::queries>,
       "One row of d numbers per query."},
      {kInGiven, "keys", kRows, kOptional, "", into_given<&Given::keys>,
       "One row of d numbers per key."},
      {kInGiven, "values", kRows, kOptional, "", into_given<&Given::values>,
       "One row per key: what it passes on."},
  };
  // clang-format on
}

const std::vector<ConfigField>& table() {
  static const std::vector<ConfigField> fields = make_table();
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
