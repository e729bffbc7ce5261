#include "report/panel.h"

#include <algorithm>
#include <set>
#include <utility>

#include "report/number_text.h"

namespace attnscale {
namespace {

using Rows = std::vector<const ResultRow*>;

std::string entries_label(const ResultKey& key) {
  if (key.entries.empty()) return "given numbers";
  return name_with_value(key.entries, key.entries_value) + " entries";
}

/// The labels of the rows, each once, in the order in which they first appear.
template <typename Label>
std::vector<std::string> distinct(const Rows& rows, const Label& label) {
  std::vector<std::string> found;
  std::set<std::string> seen;
  for (const ResultRow* row : rows) {
    std::string text = label(*row);
    if (seen.insert(text).second) found.push_back(std::move(text));
  }
  return found;
}

/// Rows with one key together, groups in the order of their first rows.
template <typename KeyOf>
std::vector<Rows> grouped_by(const Rows& rows, const KeyOf& key_of) {
  std::vector<Rows> groups;
  std::map<std::vector<std::string>, std::size_t> group_of;
  for (const ResultRow* row : rows) {
    const std::size_t group = group_of.try_emplace(key_of(*row), groups.size()).first->second;
    if (group == groups.size()) groups.emplace_back();
    groups[group].push_back(row);
  }
  return groups;
}

std::vector<std::string> experiment_key(const ResultRow& row) {
  return {row.key.run, std::to_string(row.key.seed), row.key.experiment};
}

/// What is fixed in a panel in which `axis` runs down.
std::vector<std::string> panel_key(const ResultRow& row, PanelAxis axis) {
  std::vector<std::string> key;
  for (const PanelAxis other : {PanelAxis::kD, PanelAxis::kKeys, PanelAxis::kEntries}) {
    if (other != axis) key.push_back(axis_label(row, other));
  }
  return key;
}

PanelAxis choose_axis(const Rows& experiment) {
  for (const PanelAxis axis : {PanelAxis::kD, PanelAxis::kKeys, PanelAxis::kEntries}) {
    const auto label = [axis](const ResultRow& row) { return axis_label(row, axis); };
    if (distinct(experiment, label).size() > 1) return axis;
  }
  return PanelAxis::kNothing;
}

Panel panel_of(PanelAxis axis, Rows rows) {
  const auto axis_of = [axis](const ResultRow& row) { return axis_label(row, axis); };
  const auto scaling_of = [](const ResultRow& row) { return scaling_label(row.key); };
  Panel panel;
  panel.axis = axis;
  panel.axis_labels = distinct(rows, axis_of);
  panel.scaling_labels = distinct(rows, scaling_of);
  panel.metrics = distinct(rows, [](const ResultRow& row) { return row.metric; });
  for (const ResultRow* row : rows) {
    panel.row_of[{axis_of(*row), scaling_of(*row), row->metric}] = row;
  }
  panel.rows = std::move(rows);
  return panel;
}

std::string count_of_queries(const Rows& rows) {
  const auto [least, most] =
      std::ranges::minmax_element(rows, {}, [](const ResultRow* row) { return row->queries; });
  std::string text = grouped((*least)->queries);
  if ((*most)->queries != (*least)->queries) text += " to " + grouped((*most)->queries);
  return text + ((*most)->queries == 1 ? " query" : " queries");
}

}  // namespace

std::vector<Panel> panels_of(std::span<const ResultRow> rows) {
  Rows all;
  for (const ResultRow& row : rows) all.push_back(&row);
  std::vector<Panel> panels;
  for (const Rows& experiment : grouped_by(all, experiment_key)) {
    const PanelAxis axis = choose_axis(experiment);
    const auto key = [axis](const ResultRow& row) { return panel_key(row, axis); };
    for (Rows& rows_of_panel : grouped_by(experiment, key)) {
      panels.push_back(panel_of(axis, std::move(rows_of_panel)));
    }
  }
  return panels;
}

const ResultRow* Panel::find(const std::string& axis_label, const std::string& scaling_label,
                             const std::string& metric) const {
  const auto found = row_of.find({axis_label, scaling_label, metric});
  return found == row_of.end() ? nullptr : found->second;
}

std::string caption_of(const Panel& panel) {
  const ResultRow& row = *panel.rows.front();
  std::string text = row.key.experiment + ": ";
  if (panel.axis != PanelAxis::kEntries) text += entries_label(row.key) + ", ";
  if (panel.axis != PanelAxis::kD && row.key.d) text += "d = " + std::to_string(*row.key.d) + ", ";
  if (panel.axis != PanelAxis::kKeys) {
    text += grouped(row.key.keys) + (row.key.keys == 1 ? " key, " : " keys, ");
  }
  return text + count_of_queries(panel.rows);
}

std::string axis_name(PanelAxis axis) {
  switch (axis) {
    case PanelAxis::kD:
      return "d";
    case PanelAxis::kKeys:
      return "keys";
    case PanelAxis::kEntries:
      return "entries";
    case PanelAxis::kNothing:
      break;
  }
  return "";
}

std::string axis_label(const ResultRow& row, PanelAxis axis) {
  switch (axis) {
    case PanelAxis::kD:
      return row.key.d ? std::to_string(*row.key.d) : "";
    case PanelAxis::kKeys:
      return std::to_string(row.key.keys);
    case PanelAxis::kEntries:
      return entries_label(row.key);
    case PanelAxis::kNothing:
      break;
  }
  return "";
}

std::string scaling_label(const ResultKey& key) {
  return name_with_value(key.scaling, key.scaling_value);
}

}  // namespace attnscale
