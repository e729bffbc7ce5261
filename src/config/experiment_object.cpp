#include "config/experiment_object.h"

#include <fmt/core.h>

#include <algorithm>

#include "config/axis.h"
#include "config/entries_object.h"
#include "config/experiment_checks.h"
#include "config/given_checks.h"
#include "config/given_object.h"
#include "config/object.h"
#include "config/scaling_object.h"
#include "config/schema.h"
#include "config/stop_object.h"
#include "config/values.h"

namespace attnscale {
namespace {

using ExperimentRow = Row<Experiment, const Experiment>;

// Whole numbers as far as the experiment's sampler reaches.
template <std::vector<std::int64_t> Experiment::*axis, std::int64_t SamplerRow::*limit>
void read_within_limit(const JsonValue& value, const Field& field, Experiment& experiment) {
  const SamplerRow& sampler = *experiment.sampler;
  const std::string reason = "the limit of the sampler " + quote(sampler.name);
  Field limited = field;
  limited.bounds = {1, static_cast<double>(sampler.*limit), Ends::kIncluded, reason};
  experiment.*axis = whole_values(read_axis(value, limited));
}
template <std::vector<std::int64_t> Experiment::*axis, std::int64_t SamplerRow::*limit>
constexpr Access<Experiment, const Experiment> kWithinLimit = {
    read_within_limit<axis, limit>, write_member<axis, const Experiment>};

// Metrics and histogram.

bool is_among(const MetricRow* metric, const std::vector<const MetricRow*>& metrics) {
  return std::ranges::find(metrics, metric) != metrics.end();
}

void expect_aligned_keys(const JsonValue& metric, const Experiment& experiment) {
  if (experiment.given) {
    refuse(metric, fmt::format("the metric {} cannot be used with \"given\", whose keys are not "
                               "aligned; remove it",
                               quote(metric.text)));
  }
  if (counts_aligned_keys(experiment)) return;
  refuse(metric, fmt::format("the metric {} needs to know which keys are aligned; write "
                             "\"aligned_keys\" in each of the entries, such as {}",
                             quote(metric.text), R"({"alignment": 0.3, "aligned_keys": 1})"));
}

// True if "all" takes the metric in the experiment.
bool applies(const MetricRow& row, const Experiment& experiment) {
  if (row.needs_two_keys && has_one_key_only(experiment)) return false;
  const bool has_too_many_keys =
      !experiment.keys.empty() && std::ranges::max(experiment.keys) > kMostKeysHeld;
  if (has_too_many_keys && needs_all_logits(row, {})) return false;
  const auto any_rule = [&](bool (*holds)(const WeightRule&)) {
    return std::ranges::any_of(experiment.scalings,
                               [holds](const Scaling& scaling) { return holds(scaling.weights); });
  };
  switch (row.needs) {
    case MetricNeeds::kAlignedKeys:
      return counts_aligned_keys(experiment);
    case MetricNeeds::kKeptBackWeight:
      return any_rule(
          [](const WeightRule& rule) { return rule.normaliser.kind != NormaliserKind::kSoftmax; });
    case MetricNeeds::kPrecision:
      return any_rule([](const WeightRule& rule) { return !rule.precision.is_exact(); });
    case MetricNeeds::kPlaces:
      return std::ranges::any_of(
          experiment.scalings, [](const Scaling& scaling) { return mentions(scaling.logit, "j"); });
    case MetricNeeds::kNothing:
      break;
  }
  return true;
}

// One item where a list may be is a list of it.
template <void (*read_list)(const JsonValue&, const Field&, Experiment&)>
void read_one_or_list(const JsonValue& value, const Field& field, Experiment& experiment) {
  const bool is_object = value.kind == JsonKind::kObject && field.type == FieldType::kOwn;
  if (value.kind != JsonKind::kString && !is_object) {
    return read_list(value, field, experiment);
  }
  JsonValue list;
  list.kind = JsonKind::kArray;
  list.items = {value};
  list.place = value.place;
  list.pointer = value.pointer;
  read_list(list, field, experiment);
}

// The schema of the list says what one item is.
std::string one_or_scalings_shape(const Field& field) {
  return any_of({R"({"$ref": "#/definitions/experiment/properties/scalings/anyOf/1/items"})",
                 schema_of(scalings_shape(field))});
}

std::string one_or_names_shape(const std::string& names) {
  return any_of({schema_of(names), schema_of(distinct_list_shape(names))});
}

void read_metrics(const JsonValue& value, const Field& field, Experiment& experiment);

void read_all_or_metrics(const JsonValue& value, const Field& field, Experiment& experiment) {
  if (value.kind == JsonKind::kString && value.text == "all") {
    for (const MetricRow& row : metric_table()) {
      if (applies(row, experiment)) experiment.metrics.push_back(&row);
    }
    return;
  }
  read_one_or_list<read_metrics>(value, field, experiment);
}

void read_metrics(const JsonValue& value, const Field& field, Experiment& experiment) {
  expect_list(value, "metrics, such as [\"logit_sd\", \"top_weight\"], one alone, or \"all\"");
  for (const JsonValue& item : value.items) {
    const MetricRow* row = find_metric(read_choice(item, field));
    if (is_among(row, experiment.metrics)) {
      refuse(item,
             fmt::format("found {} a second time; each metric may appear once", describe(item)));
    }
    if (row->needs == MetricNeeds::kAlignedKeys) expect_aligned_keys(item, experiment);
    experiment.metrics.push_back(row);
  }
}

std::string metrics_shape(const Field&) {
  return any_of({R"({"const": "all"})",
                 schema_of(one_or_names_shape(described_names_shape(metric_table())))});
}

std::vector<std::string_view> histogram_names() {
  std::vector<std::string_view> names = {"score", "logit"};
  for (const MetricRow& row : metric_table()) {
    if (row.kind == MetricKind::kPerQuery) names.push_back(row.name);
  }
  return names;
}

std::string one_or_listed_shape(const Field& field) {
  return one_or_names_shape(names_shape(field.choices.names()));
}

void read_histogram(const JsonValue& value, const Field& field, Experiment& experiment) {
  expect_list(value, "metrics, \"score\" or \"logit\", or one of these alone");
  for (const JsonValue& item : value.items) {
    const HistogramQuantity quantity = *find_histogram_quantity(read_choice(item, field));
    if (std::ranges::find(experiment.histogram, quantity) != experiment.histogram.end()) {
      refuse(item, fmt::format("found {} a second time; each may appear once", describe(item)));
    }
    if (quantity.metric != nullptr && !is_among(quantity.metric, experiment.metrics)) {
      refuse(item, fmt::format("{} is not one of the metrics of this experiment; add it to them",
                               quote(quantity.name())));
    }
    experiment.histogram.push_back(quantity);
  }
}

std::string histogram_text(const Field&, const Experiment& experiment) {
  if (experiment.histogram.empty()) return "";
  return list_text(experiment.histogram,
                   [](const HistogramQuantity& quantity) { return quote(quantity.name()); });
}

void read_parts(const JsonValue& value, const Field& field, Experiment& experiment) {
  expect_list(value, "\"head\" and \"query\", or one of these alone");
  for (const JsonValue& item : value.items) {
    const auto part = static_cast<GivenPart>(read_choice_place(item, field));
    if (is_split_by(experiment, part)) {
      refuse(item, fmt::format("found {} a second time; each may appear once", describe(item)));
    }
    experiment.by.push_back(part);
  }
}

const std::vector<ExperimentRow>& experiment_rows() {
  using enum FieldType;
  using enum FieldUse;
  // Each row stays two or three lines.
  // clang-format off
  static const std::vector<ExperimentRow> table = {
      {{"name", kName, kOptional, "",
        "Name in the column experiment; by default experiment_1, experiment_2, ... by position."},
        kBothWays<&Experiment::name>},
      {{"given", kOwn, kOptional, "", "Numbers to use instead of drawn ones."},
        kBothWays<&Experiment::given>},
      // Before d, keys and entries, whose limits are the sampler's.
      {{"sampler", kChoice, kIfDrawn, "",
        "How scores are drawn; by default as for the whole config.", {},
        {"sampler", row_names<sampler_table>}}, kBothWays<&Experiment::sampler>},
      {{"d", kIntegerAxis, kRequiredIfDrawn, "",
        "Head size: how many numbers one query and one key hold.",
        limits_of_samplers(&SamplerRow::max_d)}, kWithinLimit<&Experiment::d, &SamplerRow::max_d>},
      {{"keys", kIntegerAxis, kIfDrawn, "8", "How many keys each query is scored against.",
        limits_of_samplers(&SamplerRow::max_keys)},
        kWithinLimit<&Experiment::keys, &SamplerRow::max_keys>},
      {{"entries", kOwn, kIfDrawn, R"("normal")", "Law of the numbers in queries and keys.", {},
        {"law", row_names<law_table>}}, kBothWays<&Experiment::entries, entries_shape>},
      {{"queries", kInteger, kIfDrawn, "10000", "Independent queries of every cell.",
        {1, kMostQueries}}, kBothWays<&Experiment::queries>},
      {{"scalings", kOwn, kOptional, R"(["none", "div_sqrt_d", "div_d"])",
        "Rules that turn a score into a logit, all on the same draws.", {},
        {"scaling", row_names<preset_table>}}, {read_one_or_list<read_member<&Experiment::scalings, Experiment>>,
          write_member<&Experiment::scalings, const Experiment>, one_or_scalings_shape}},
      {{"metrics", kChoiceList, kDefaultIfDrawn, R"(["logit_sd", "top_weight", "slope"])",
        "What is measured; \"all\" takes every metric that applies.", {},
        {"metric", row_names<metric_table>, R"(, or "all" alone)"}},
        {read_all_or_metrics, write_member<&Experiment::metrics, const Experiment>, metrics_shape}},
      {{"saturated_above", kNumber, kOptional, "0.99", "Threshold of the metric saturated.",
        {0, 1, Ends::kBothExcluded}}, kBothWays<&Experiment::saturated_above>},
      {{"by", kChoiceList, kIfGiven, "",
        "Parts of given numbers that have lines of their own: heads in heads.csv, queries in queries.csv.", {},
        {"part", listed_names<kGivenPartNames>}}, {read_one_or_list<read_parts>,
          write_member<&Experiment::by, const Experiment>, one_or_listed_shape}},
      {{"histogram", kChoiceList, kIfDrawn, "",
        "What goes to histogram.csv: score, logit, or metrics of this experiment.", {},
        {"histogram", histogram_names}}, {read_one_or_list<read_histogram>, histogram_text, one_or_listed_shape}},
      {{"samples", kInteger, kIfDrawn, "0", "How many of the first queries go to samples.csv.",
        {0, kMostQueries}}, kBothWays<&Experiment::samples>},
      // After queries, scalings, metrics and samples, which it is checked against.
      {{"stop", kOwn, kIfDrawn, "",
        "How precise is enough: a cell stops there, or after `queries` queries at the latest."},
        kBothWays<&Experiment::stop>},
  };
  // clang-format on
  return table;
}

}  // namespace

std::string experiment_name(const JsonValue& experiment, std::size_t index) {
  const JsonValue* name = experiment.find("name");
  return name != nullptr ? name->text : fmt::format("experiment_{}", index + 1);
}

Experiment read_experiment(const JsonValue& value, std::size_t index, const SamplerRow& sampler,
                           FileLines& lines, std::vector<std::string>& warnings) {
  Experiment experiment;
  experiment.name = experiment_name(value, index);
  if (value.find("given") == nullptr) experiment.sampler = &sampler;
  read_object(value, experiment_rows(), experiment);
  add_lines(value, experiment, lines);  // first, as other checks look at each size and scaling
  check_experiment(value, experiment, warnings);
  if (experiment.given) check_given(value, experiment, warnings);
  if (experiment.stop) complete_stop(value, experiment);
  return experiment;
}

std::vector<std::string_view> experiment_keys() {
  return names_of(experiment_rows());
}

std::string experiment_text(const Experiment& experiment, const std::string& indent) {
  std::vector<std::string> members;
  for (const ExperimentRow& row : experiment_rows()) {
    if (experiment.given && is_refused_beside_given(row.field)) continue;
    add_member(row, experiment, members);
  }
  return object_in_lines(members, indent);
}

// Beside `given` nothing is drawn; without it, `d` must be given, and nothing has parts.
std::string experiment_schema() {
  std::vector<std::string> drawn_keys;
  std::vector<std::string> given_keys;
  std::vector<std::string_view> required;
  for (const auto& [field, access] : experiment_rows()) {
    if (is_refused_beside_given(field)) {
      drawn_keys.push_back(schema_of(required_shape({field.name})));
    }
    if (field.use == FieldUse::kIfGiven) {
      given_keys.push_back(schema_of(required_shape({field.name})));
    }
    if (field.use == FieldUse::kRequiredIfDrawn) required.push_back(field.name);
  }
  return fmt::format(
      R"({}, "if": {{"required": ["given"]}}, "then": {{"not": {}}}, "else": {{{}, "not": {}}})",
      object_shape(experiment_rows()), schema_of(any_of(drawn_keys)), required_shape(required),
      schema_of(any_of(given_keys)));
}

}  // namespace attnscale
