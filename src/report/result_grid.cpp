#include "report/result_grid.h"

#include <algorithm>
#include <utility>

#include "report/number_text.h"

namespace attnscale {
namespace {

using Rows = std::vector<const ResultRow*>;

constexpr GridAxis kAxes[] = {GridAxis::kD, GridAxis::kKeys, GridAxis::kEntries};

std::string entries_label(const ResultKey& key) {
  if (key.entries.empty()) return "given numbers";
  return name_with_value(key.entries, key.entries_value) + " entries";
}

// Where on the axis a row is: "64".
std::string axis_label(const ResultRow& row, GridAxis axis) {
  switch (axis) {
    case GridAxis::kD:
      return row.key.d ? std::to_string(*row.key.d) : "";
    case GridAxis::kKeys:
      return std::to_string(row.key.keys);
    case GridAxis::kEntries:
      return entries_label(row.key);
    case GridAxis::kNothing:
      break;
  }
  return "";
}

// Texts, each once, in the order in which they were first met.
class Distinct {
 public:
  // The index of a text, which is new or was met before.
  std::size_t add(const std::string& text) {
    const auto [place, is_new] = index_of_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return place->second;
  }

  std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::vector<std::string> texts_;
  std::map<std::string, std::size_t> index_of_;
};

// Rows with one key together, groups in the order of their first rows.
template <typename KeyOf>
std::vector<Rows> grouped_by(const Rows& rows, const KeyOf& key_of) {
  std::vector<Rows> groups;
  Distinct keys;
  for (const ResultRow* row : rows) {
    const std::size_t group = keys.add(key_of(*row));
    if (group == groups.size()) groups.emplace_back();
    groups[group].push_back(row);
  }
  return groups;
}

std::string experiment_key(const ResultRow& row) {
  return row.key.run + "\n" + std::to_string(row.key.seed) + "\n" + row.key.experiment;
}

GridAxis choose_axis(const Rows& experiment) {
  for (const GridAxis axis : kAxes) {
    const std::string first = axis_label(*experiment.front(), axis);
    const auto differs = [&](const ResultRow* row) { return axis_label(*row, axis) != first; };
    if (std::any_of(experiment.begin(), experiment.end(), differs)) return axis;
  }
  return GridAxis::kNothing;
}

ResultGrid grid_of(GridAxis axis, const Rows& rows) {
  ResultGrid grid;
  grid.axis = axis;
  grid.rows = rows;
  Distinct labels, scalings, metrics;
  for (const ResultRow* row : rows) {
    const std::size_t label = labels.add(axis_label(*row, axis));
    const std::size_t scaling =
        scalings.add(name_with_value(row->key.scaling, row->key.scaling_value));
    grid.places[{label, scaling, metrics.add(row->metric)}] = row;
  }
  grid.axis_labels = labels.take();
  grid.scaling_labels = scalings.take();
  grid.metrics = metrics.take();
  return grid;
}

std::string count_of_queries(const Rows& rows) {
  const auto [fewest, largest] = std::ranges::minmax_element(rows, {}, &ResultRow::queries);
  const std::int64_t least = (*fewest)->queries;
  const std::int64_t most = (*largest)->queries;
  const std::string text = least == most ? grouped(most) : grouped(least) + " to " + grouped(most);
  return text + (most == 1 ? " query" : " queries");
}

}  // namespace

const ResultRow* ResultGrid::at(std::size_t label, std::size_t scaling, std::size_t metric) const {
  const auto place = places.find({label, scaling, metric});
  return place == places.end() ? nullptr : place->second;
}

std::vector<ResultGrid> grids_of(std::span<const ResultRow> rows) {
  Rows all;
  for (const ResultRow& row : rows) all.push_back(&row);
  std::vector<ResultGrid> grids;
  for (const Rows& experiment : grouped_by(all, experiment_key)) {
    const GridAxis axis = choose_axis(experiment);
    const auto fixed = [axis](const ResultRow& row) {
      std::string key;
      for (const GridAxis other : kAxes) {
        if (other != axis) key += axis_label(row, other) + "\n";
      }
      return key;
    };
    for (const Rows& of_grid : grouped_by(experiment, fixed)) {
      grids.push_back(grid_of(axis, of_grid));
    }
  }
  return grids;
}

std::string caption_of(const ResultGrid& grid) {
  const ResultKey& key = grid.rows.front()->key;
  std::string text = key.experiment + ": ";
  if (grid.axis != GridAxis::kEntries) text += entries_label(key) + ", ";
  if (grid.axis != GridAxis::kD && key.d) text += "d = " + std::to_string(*key.d) + ", ";
  if (grid.axis != GridAxis::kKeys) {
    text += grouped(key.keys) + (key.keys == 1 ? " key, " : " keys, ");
  }
  return text + count_of_queries(grid.rows);
}

std::string axis_name(GridAxis axis) {
  constexpr const char* kNames[] = {"d", "keys", "entries", ""};
  return kNames[static_cast<std::size_t>(axis)];
}

}  // namespace attnscale
