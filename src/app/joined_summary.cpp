#include "app/joined_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "io/result_tables.h"

namespace attnscale {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kLongestValue = 200;  // given numbers say too much

// Keys of a config by name, such as softmax.keys, and what they hold.
using Settings = std::vector<std::pair<std::string, ordered_json>>;

Settings settings_of(const RunSummary& run) {
  Settings settings;
  if (!run.manifest) return settings;
  const ordered_json config = ordered_json::parse(run.manifest->config.text, nullptr, false);
  if (!config.is_object()) return settings;
  const auto add = [&](const ordered_json& object, const std::string& before) {
    for (const auto& [key, value] : object.items()) {
      const bool has_a_column = key == "name" || key == "seed" || key == "experiments";
      if (!has_a_column) settings.emplace_back(before + key, value);
    }
  };
  add(config, "");
  for (const ordered_json& experiment : config.value("experiments", ordered_json::array())) {
    if (experiment.is_object()) add(experiment, experiment.value("name", "") + ".");
  }
  return settings;
}

// A list of one number is that number.
Value cell_of(const ordered_json& value) {
  if (value.is_array() && value.size() == 1) return cell_of(value.front());
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return text.size() > kLongestValue ? text.substr(0, kLongestValue) + "..." : text;
}

// The names of the settings that are not the same in all runs, in the order of the first that has
// them.
std::vector<std::string> varied_names(const std::vector<Settings>& runs) {
  std::vector<std::string> names;
  std::map<std::string, std::map<std::string, std::size_t>> uses;  // of each value by its text
  for (const Settings& settings : runs) {
    for (const auto& [name, value] : settings) {
      if (!uses.contains(name)) names.push_back(name);
      ++uses[name][value.dump()];
    }
  }
  std::erase_if(names, [&](const std::string& name) {
    const auto& values = uses[name];
    return values.size() == 1 && values.begin()->second == runs.size();
  });
  return names;
}

}  // namespace

Table joined_summary(const std::vector<RunSummary>& runs) {
  const bool are_several = runs.size() > 1;
  std::vector<Settings> settings;
  for (const RunSummary& run : runs) settings.push_back(settings_of(run));
  const std::vector<std::string> varied =
      are_several ? varied_names(settings) : std::vector<std::string>();
  Table joined = table_of<ResultRow>({});
  std::vector<Column> first;
  if (are_several) first.emplace_back("folder", Empty::kNever, ColumnType::kText);
  first.emplace_back("run_id", Empty::kAllowed, ColumnType::kText);
  for (const std::string& name : varied) first.emplace_back(name);
  joined.columns.insert(joined.columns.begin(), first.begin(), first.end());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<Value> before;
    if (are_several) before.emplace_back(runs[i].folder);
    before.push_back(runs[i].manifest ? Value(fmt::format("r{:.8}", runs[i].manifest->fingerprint))
                                      : Value());
    for (const std::string& name : varied) {
      const auto found = std::ranges::find(settings[i], name, &Settings::value_type::first);
      before.push_back(found == settings[i].end() ? Value() : cell_of(found->second));
    }
    for (std::vector<Value>& row : table_of<ResultRow>(runs[i].rows).rows) {
      std::vector<Value> line = before;
      line.insert(line.end(), row.begin(), row.end());
      joined.rows.push_back(std::move(line));
    }
  }
  return joined;
}

}  // namespace attnscale
