// A resolved config as JSON text, every default written out.
#include <algorithm>
#include <functional>

#include "config/config.h"
#include "config/config_draft.h"
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

/// One object of a list: neighbours with one name and a value each are a sweep.
template <typename Named>
std::vector<std::vector<Named>> group_sweeps(const std::vector<Named>& all) {
  std::vector<std::vector<Named>> groups;
  for (const Named& one : all) {
    const bool joins = !groups.empty() && one.value && groups.back().front().name == one.name;
    if (!joins) groups.emplace_back();
    groups.back().push_back(one);
  }
  return groups;
}

template <typename Named>
std::string sweep_text(const std::vector<Named>& group) {
  std::vector<double> values;
  for (const Named& one : group) values.push_back(*one.value);
  return numbers_text(values);
}

/// True where `number` of every member is what the sweep says.
template <typename Named>
bool is_swept(const std::vector<Named>& group, const std::function<double(const Named&)>& number) {
  return std::all_of(group.begin(), group.end(),
                     [&](const Named& one) { return one.value && *one.value == number(one); });
}

/// The numbers of a group of entries, of which at most one is swept.
class EntriesNumbers {
 public:
  using Get = std::function<double(const Entries&)>;

  explicit EntriesNumbers(const std::vector<Entries>& group) : group_(group) {}

  /// `, "key": number`, or the list of the sweep where this is the number that is swept.
  std::string member(std::string_view key, const Get& get) {
    const bool here = !swept_ && is_swept<Entries>(group_, get);
    swept_ = swept_ || here;
    return ", " + quote(key) + ": " +
           (here ? sweep_text(group_) : number_text(get(group_.front())));
  }

  /// `"law": ...`, `more`, and the law's numbers.
  std::string law(Law Entries::*side, const std::string& more = "") {
    const LawRow& row = *(group_.front().*side).row;
    std::string text = "\"law\": " + quote(row.name) + more;
    text += member("mean", [side](const Entries& one) { return (one.*side).mean; });
    text += member("sd", [side](const Entries& one) { return (one.*side).sd; });
    for (std::size_t i = 0; i < row.parameters.size(); ++i) {
      text += member(row.parameters[i].name,
                     [side, i](const Entries& one) { return (one.*side).parameters[i]; });
    }
    return text;
  }

 private:
  const std::vector<Entries>& group_;
  bool swept_ = false;
};

std::string entries_text(const std::vector<Entries>& group) {
  EntriesNumbers numbers(group);
  const std::string name = "\"name\": " + quote(group.front().name);
  const bool one_law = std::all_of(group.begin(), group.end(),
                                   [](const Entries& one) { return one.queries == one.keys; });
  std::string text = "{";
  if (one_law) {
    text += numbers.law(&Entries::queries, ", " + name);
  } else {
    text += name + ", \"queries\": {" + numbers.law(&Entries::queries) + "}";
    text += ", \"keys\": {" + numbers.law(&Entries::keys) + "}";
  }
  const bool aligned = std::any_of(group.begin(), group.end(), [](const Entries& one) {
    return one.alignment != 0 || one.aligned_keys;
  });
  if (aligned) {
    text += numbers.member("alignment", [](const Entries& one) { return one.alignment; });
  }
  if (group.front().aligned_keys) {
    text += numbers.member("aligned_keys", [](const Entries& one) {
      return static_cast<double>(one.aligned_keys.value_or(0));
    });
  }
  return text + "}";
}

void add_draws(ObjectText& text, const Experiment& experiment) {
  std::vector<std::string> entries;
  for (const auto& group : group_sweeps(experiment.entries)) entries.push_back(entries_text(group));
  text.add("sampler", quote(experiment.sampler->name));
  text.add("d", whole_numbers_text(experiment.d));
  text.add("keys", whole_numbers_text(experiment.keys));
  text.add("entries", list_text(entries));
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
