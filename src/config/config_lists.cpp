// The keys of a config that are lists of names: metrics and histogram; and what stops a cell.
// Entries are in config_entries, scalings in config_scalings, given numbers in config_given.
#include <algorithm>
#include <functional>
#include <optional>

#include "config/config_checks.h"
#include "config/config_reader.h"
#include "config/entries_object.h"
#include "config/given_object.h"
#include "config/scaling_object.h"
#include "config/stop_object.h"
#include "config/values.h"
#include "experiment/scaling_measurer.h"

namespace attnscale {
namespace {

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

bool has_what_it_needs(const MetricRow& row, const Experiment& experiment) {
  const auto any_rule = [&](bool (*holds)(const WeightRule&)) {
    return std::ranges::any_of(experiment.scalings, [holds](const Scaling& scaling) {
      return holds(scaling.rule.weights);
    });
  };
  const bool has_too_many_keys =
      !experiment.keys.empty() && std::ranges::max(experiment.keys) > kMostKeysHeld;
  if (has_too_many_keys && needs_all_logits(row, {})) return false;
  switch (row.needs) {
    case MetricNeeds::kAlignedKeys:
      return counts_aligned_keys(experiment);
    case MetricNeeds::kKeptBackWeight:
      return any_rule(
          [](const WeightRule& rule) { return rule.normaliser.kind != NormaliserKind::kSoftmax; });
    case MetricNeeds::kPrecision:
      return any_rule([](const WeightRule& rule) { return rule.precision != Precision::kFloat64; });
    case MetricNeeds::kNothing:
      break;
  }
  return true;
}

}  // namespace

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

void land_given(const JsonValue& value, const ConfigField&, ConfigDraft& draft) {
  draft.experiment.given = read_given(value, draft.folder);
}

void land_entries(const JsonValue& value, const ConfigField& field, ConfigDraft& draft) {
  draft.experiment.entries = read_entries(value, field);
}

void land_scalings(const JsonValue& value, const ConfigField& field, ConfigDraft& draft) {
  draft.experiment.scalings = read_scalings(value, field);
}

void land_stop(const JsonValue& value, const ConfigField&, ConfigDraft& draft) {
  draft.experiment.stop = read_stop(value, draft.experiment.queries);
}

}  // namespace attnscale
