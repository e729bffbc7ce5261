// A resolved config as JSON text, every default written out.
#include <algorithm>
#include <functional>

#include "config/config.h"
#include "config/config_draft.h"
#include "config/entries_object.h"
#include "config/given_object.h"
#include "config/object_writer.h"
#include "config/scaling_object.h"
#include "config/stop_object.h"
#include "config/values.h"

namespace attnscale {
namespace {

std::string whole_numbers_text(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> items;
  for (const std::int64_t number : numbers) items.push_back(std::to_string(number));
  return list_text(items);
}

/// The members of an object, a line each.
class ObjectText {
 public:
  explicit ObjectText(std::string indent) : indent_(std::move(indent)) {}

  void add(std::string_view key, const std::string& value) {
    text_ += (text_.empty() ? "" : ",\n") + indent_ + "  " + quote(key) + ": " + value;
  }
  std::string finish() const { return "{\n" + text_ + "\n" + indent_ + "}"; }

 private:
  std::string indent_;
  std::string text_;
};

void add_draws(ObjectText& text, const Experiment& experiment) {
  text.add("sampler", quote(experiment.sampler->name));
  text.add("d", whole_numbers_text(experiment.d));
  text.add("keys", whole_numbers_text(experiment.keys));
  text.add("entries", entries_text(experiment.entries));
  text.add("queries", std::to_string(experiment.queries));
}

std::string experiment_text(const Experiment& experiment) {
  ObjectText text("    ");
  text.add("name", quote(experiment.name));
  if (experiment.given) {
    text.add("given", given_text(*experiment.given, "      "));
  } else {
    add_draws(text, experiment);
  }
  text.add("scalings", scalings_text(experiment.scalings));
  std::vector<std::string> metrics;
  for (const MetricRow* row : experiment.metrics) metrics.push_back(quote(row->name));
  if (!metrics.empty()) text.add("metrics", list_text(metrics));
  text.add("saturated_above", number_text(experiment.saturated_above));
  std::vector<std::string> histogram;
  for (const std::string& name : experiment.histogram) histogram.push_back(quote(name));
  if (!histogram.empty()) text.add("histogram", list_text(histogram));
  if (!experiment.given) text.add("samples", std::to_string(experiment.samples));
  if (experiment.stop) text.add("stop", stop_text(*experiment.stop));
  return "    " + text.finish();
}

}  // namespace

std::string to_json_text(const Config& config) {
  ObjectText text("");
  text.add("name", quote(config.name));
  text.add("description", quote(config.description));
  text.add("seed", std::to_string(config.seed));
  text.add("reference", config.reference == ReferenceMode::kOff ? quote("off") : quote("auto"));
  std::string experiments;
  for (const Experiment& experiment : config.experiments) {
    experiments += (experiments.empty() ? "" : ",\n") + experiment_text(experiment);
  }
  text.add("experiments", "[\n" + experiments + "\n  ]");
  return text.finish() + "\n";
}

}  // namespace attnscale
