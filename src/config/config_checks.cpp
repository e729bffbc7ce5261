#include "config/config_checks.h"

#include <algorithm>

#include "config/file_size.h"
#include "config/given_object.h"
#include "config/join.h"
#include "config/object_reader.h"
#include "config/stop_object.h"
#include "config/values.h"
#include "experiment/given_scores.h"
#include "experiment/histogram.h"
#include "experiment/scaling_measurer.h"

namespace attnscale {
namespace {

constexpr double kMostCells = 1e6;

double cells_of(const Experiment& experiment) {
  return static_cast<double>(experiment.entries.size()) * static_cast<double>(experiment.d.size()) *
         static_cast<double>(experiment.keys.size());
}

void check_samples(const JsonValue& value, const Experiment& experiment) {
  if (experiment.samples == 0) return;
  const JsonValue& samples = *value.find("samples");
  if (experiment.samples > experiment.queries) {
    refuse(samples, "found " + describe(samples) + "; expected at most the number of queries, " +
                        std::to_string(experiment.queries));
  }
  const double lines = static_cast<double>(experiment.samples) * cells_of(experiment) *
                       static_cast<double>(experiment.scalings.size());
  const double numbers = static_cast<double>(experiment.metrics.size());
  check_file_size(samples, "samples.csv", lines, numbers);
}

void check_histogram(const JsonValue& value, const Experiment& experiment) {
  if (experiment.histogram.empty()) return;
  const double lines = static_cast<double>(kHistogramBins) *
                       static_cast<double>(experiment.histogram.size()) * cells_of(experiment) *
                       static_cast<double>(experiment.scalings.size());
  check_file_size(*value.find("histogram"), "histogram.csv", lines, 4);
}

std::string describe_law(const Law& law) {
  return "the law " + quote(law.row->name) + " with mean " + number_text(law.mean) + " and sd " +
         number_text(law.sd);
}

std::string describe_entries(const Entries& entries) {
  if (entries.queries == entries.keys) return describe_law(entries.queries);
  return "queries of " + describe_law(entries.queries) + " and keys of " +
         describe_law(entries.keys);
}

void check_aligned_keys(const JsonValue& value, const Experiment& experiment) {
  const std::int64_t fewest = *std::min_element(experiment.keys.begin(), experiment.keys.end());
  for (const Entries& entries : experiment.entries) {
    if (entries.aligned_keys.value_or(0) <= fewest) continue;
    refuse(said_or_whole(value, "entries"),
           std::to_string(*entries.aligned_keys) + " aligned keys, but a query has only " +
               std::to_string(fewest) + (fewest == 1 ? " key" : " keys") +
               "; ask for at most as many, or for more \"keys\"");
  }
}

void check_sampler(const JsonValue& value, const Experiment& experiment) {
  for (const Entries& entries : experiment.entries) {
    if (experiment.sampler->can_draw(entries)) continue;
    std::vector<std::string_view> able;
    for (const SamplerRow& row : sampler_table()) {
      if (row.can_draw(entries)) able.push_back(row.name);
    }
    refuse(said_or_whole(value, "entries"), "the sampler " + quote(experiment.sampler->name) +
                                                " has no rule for " + describe_entries(entries) +
                                                "; samplers that can draw it: " + join(able));
  }
}

/// What the scalings and metrics ask of the sampler beside scores.
void check_norms(const JsonValue& value, const Experiment& experiment) {
  const auto normalised = std::ranges::find_if(
      experiment.scalings, [](const Scaling& scaling) { return needs_norms(scaling.rule); });
  if (normalised == experiment.scalings.end()) return;
  for (const Entries& entries : experiment.entries) {
    if (experiment.sampler->can_give_norms(entries)) continue;
    std::vector<std::string_view> able;
    for (const SamplerRow& row : sampler_table()) {
      if (row.can_draw(entries) && row.can_give_norms(entries)) able.push_back(row.name);
    }
    refuse(said_or_whole(value, "scalings"),
           "the scaling " + quote(normalised->name) + " has a norm, and the sampler " +
               quote(experiment.sampler->name) + " cannot give the norms of " +
               describe_entries(entries) + "; samplers that can: " + join(able));
  }
}

/// Queries whose logits must all be held at once may not have too many.
void check_held_keys(const JsonValue& value, const Experiment& experiment) {
  const std::int64_t most = *std::ranges::max_element(experiment.keys);
  if (most <= kMostKeysHeld) return;
  for (const Scaling& scaling : experiment.scalings) {
    for (const MetricRow* metric : experiment.metrics) {
      if (!needs_all_logits(*metric, scaling.rule)) continue;
      refuse(said_or_whole(value, "keys"),
             "the metric " + quote(metric->name) + " under the scaling " + quote(scaling.name) +
                 " needs all logits of a query at once, which allows at most " +
                 std::to_string(kMostKeysHeld) + " keys; found " + std::to_string(most));
    }
  }
}

std::string name_metrics(const std::vector<const MetricRow*>& metrics, bool that_need_two_keys) {
  std::vector<std::string_view> names;
  for (const MetricRow* row : metrics) {
    if (row->needs_two_keys == that_need_two_keys) names.push_back(row->name);
  }
  return join(names);
}

void warn_of_one_key(const JsonValue& value, const Experiment& experiment,
                     std::vector<std::string>& warnings) {
  const std::vector<std::int64_t>& keys = experiment.keys;
  const bool at_one_key =
      has_one_key_only(experiment) || std::find(keys.begin(), keys.end(), 1) != keys.end();
  const std::string idle = name_metrics(experiment.metrics, true);
  if (!at_one_key || idle.empty()) return;
  const JsonValue& place = said_or_whole(value, "metrics");
  warnings.push_back(to_text(place.place) + ": " + place.pointer +
                     ": with one key the weight is "
                     "always 1, so these metrics say nothing at keys 1: " +
                     idle + "; ask for 2 keys or more, or leave them out");
}

}  // namespace

bool has_one_key_only(const Experiment& experiment) {
  if (!experiment.given) return experiment.keys == std::vector<std::int64_t>{1};
  return most_visible_keys(*experiment.given) == 1;
}

bool counts_aligned_keys(const Experiment& experiment) {
  const std::vector<Entries>& entries = experiment.entries;
  return !entries.empty() && std::all_of(entries.begin(), entries.end(), [](const Entries& one) {
    return one.aligned_keys.has_value();
  });
}

void check_experiment(const JsonValue& value, const Experiment& experiment,
                      std::vector<std::string>& warnings) {
  warn_of_one_key(value, experiment, warnings);
  if (experiment.given) return check_given(value, experiment, warnings);
  check_sampler(value, experiment);
  check_norms(value, experiment);
  check_held_keys(value, experiment);
  check_aligned_keys(value, experiment);
  check_samples(value, experiment);
  check_histogram(value, experiment);
  check_stop(value, experiment);
}

void check_config(const JsonValue& value, const Config& config) {
  double cells = 0;
  for (const Experiment& experiment : config.experiments) cells += cells_of(experiment);
  if (cells > kMostCells) {
    refuse(*value.find("experiments"), "the sweep has " + number_text(cells) +
                                           " cells (laws x d x keys); allowed are " +
                                           number_text(kMostCells));
  }
}

}  // namespace attnscale
