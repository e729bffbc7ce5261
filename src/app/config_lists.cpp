// The keys of a config that are lists of names or objects: scalings, metrics, histogram; and given
// numbers. Entries are in config_entries.
#include <algorithm>
#include <functional>
#include <optional>

#include "app/config_checks.h"
#include "app/config_reader.h"
#include "app/config_sweeps.h"
#include "app/config_values.h"

namespace attnscale {
namespace {

std::string name_of_scaling(const JsonValue& value, const ScalingDraft& read) {
  if (!read.name) {
    if (read.like && value.members.size() == 1) return read.like->name;
    refuse(value, "a scaling of your own needs a \"name\"");
  }
  if (find_scaling(*read.name)) {
    refuse(*value.find("name"), quote(*read.name) +
                                    " is the name of a scaling the tool knows; "
                                    "choose another name, or write {\"like\": " +
                                    quote(*read.name) + "}");
  }
  return *read.name;
}

/// The number that a scaling comes to together with the one it is like.
void expect_within(const JsonValue& value, const std::string& key, double number,
                   const NumberBounds& bounds) {
  if (number >= bounds.range.least && number <= bounds.range.most) return;
  refuse(value, "the " + key + " comes to " + number_text(number) + "; expected " +
                    describe_bounds(bounds));
}

void read_scaling_object(const JsonValue& value, std::vector<Scaling>& scalings) {
  ConfigDraft draft;
  read_object(value, FieldPlace::kInScaling, draft);
  const ScalingDraft& read = draft.scaling;
  const std::string name = name_of_scaling(value, read);
  refuse_repeated_name(value, scalings, name, "scaling");
  const Scaling start = read.like.value_or(Scaling{});
  const NumberBounds multipliers = bounds_of(*find_field(FieldPlace::kInScaling, "multiplier"));
  const NumberBounds powers = bounds_of(*find_field(FieldPlace::kInScaling, "d_power"));
  for_each_value(value, {&read.multiplier, &read.d_power},
                 [&](const std::vector<double>& numbers, std::optional<double> swept) {
                   const Scaling scaling{name, swept, start.multiplier * numbers[0],
                                         start.d_power + numbers[1]};
                   expect_within(value, "multiplier", scaling.multiplier, multipliers);
                   expect_within(value, "d_power", scaling.d_power, powers);
                   scalings.push_back(scaling);
                 });
}

void expect_aligned_keys(const JsonValue& metric, const Experiment& experiment) {
  if (experiment.given) {
    refuse(metric, "the metric " + quote(metric.text) +
                       " does not go with \"given\", whose keys are not aligned; remove it");
  }
  if (counts_aligned_keys(experiment)) return;
  refuse(metric, "the metric " + quote(metric.text) +
                     " needs to know which keys are aligned; write \"aligned_keys\" in each of "
                     "the entries, such as {\"alignment\": 0.3, \"aligned_keys\": 1}");
}

// No scaling keeps weight back or rounds its weights.
bool has_what_it_needs(const MetricRow& row, const Experiment& experiment) {
  if (row.needs == MetricNeeds::kAlignedKeys) return counts_aligned_keys(experiment);
  return row.needs == MetricNeeds::kNothing;
}

}  // namespace

void land_scalings(const JsonValue& value, const ConfigField& field, ConfigDraft& draft) {
  expect_list(value, "scalings, such as [\"none\", \"div_sqrt_d\"]");
  std::vector<Scaling>& scalings = draft.experiment.scalings;
  for (const JsonValue& item : value.items) {
    if (item.kind == JsonKind::kObject) {
      read_scaling_object(item, scalings);
      continue;
    }
    const Scaling scaling = *find_scaling(read_choice(item, field));
    refuse_repeated_name(item, scalings, scaling.name, "scaling");
    scalings.push_back(scaling);
  }
}

void land_metrics(const JsonValue& value, const ConfigField& field, ConfigDraft& draft) {
  std::vector<const MetricRow*>& metrics = draft.experiment.metrics;
  if (value.kind == JsonKind::kString && value.text == "all") {
    const bool one_key = has_one_key_only(draft.experiment);
    for (const MetricRow& row : metric_table()) {
      const bool says_nothing = one_key && row.needs_two_keys;
      if (!says_nothing && has_what_it_needs(row, draft.experiment)) metrics.push_back(&row);
    }
    return;
  }
  expect_list(value, "metrics, such as [\"logit_sd\", \"top_weight\"], or \"all\"");
  for (const JsonValue& item : value.items) {
    const MetricRow* row = find_metric(read_choice(item, field));
    if (std::find(metrics.begin(), metrics.end(), row) != metrics.end()) {
      refuse(item, "found " + describe(item) + " a second time; each metric may stand once");
    }
    if (row->needs == MetricNeeds::kAlignedKeys) expect_aligned_keys(item, draft.experiment);
    metrics.push_back(row);
  }
}

void land_histogram(const JsonValue& value, const ConfigField& field, ConfigDraft& draft) {
  expect_list(value, "metrics, \"score\" or \"logit\"");
  std::vector<std::string>& histogram = draft.experiment.histogram;
  for (const JsonValue& item : value.items) {
    const std::string name(read_choice(item, field));
    if (std::find(histogram.begin(), histogram.end(), name) != histogram.end()) {
      refuse(item, "found " + describe(item) + " a second time; each may stand once");
    }
    const std::vector<const MetricRow*>& metrics = draft.experiment.metrics;
    const MetricRow* row = find_metric(name);
    if (row != nullptr && std::find(metrics.begin(), metrics.end(), row) == metrics.end()) {
      refuse(item, quote(name) + " is not among the metrics of this experiment; add it there");
    }
    histogram.push_back(name);
  }
}

void land_stop(const JsonValue& value, const ConfigField&, ConfigDraft& draft) {
  constexpr std::int64_t kUsualLeast = 1000;
  draft.stop = {};
  read_object(value, FieldPlace::kInStop, draft);
  PrecisionTarget target = std::move(draft.stop.target);
  target.min_queries =
      draft.stop.min_queries.value_or(std::min(kUsualLeast, draft.experiment.queries));
  draft.experiment.stop = std::move(target);
}

void land_given(const JsonValue& value, const ConfigField&, ConfigDraft& draft) {
  draft.given = {};
  read_object(value, FieldPlace::kInGiven, draft);
  draft.experiment.given = std::move(draft.given);
  check_given(value, *draft.experiment.given);
}

}  // namespace attnscale
