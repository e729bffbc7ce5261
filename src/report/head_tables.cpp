#include "report/head_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/number_text.h"

namespace attnscale {
namespace {

constexpr std::size_t kMostHeads = 8;  // of a table
constexpr int kHeadDigits = 4;

constexpr std::pair<const char*, std::optional<double> HeadNumbers::*> kHeadColumns[] = {
    {"logit_sd", &HeadNumbers::logit_sd},
    {"max_logit", &HeadNumbers::max_logit},
    {"top_weight", &HeadNumbers::top_weight},
    {"entropy", &HeadNumbers::entropy},
    {"effective_keys", &HeadNumbers::effective_keys},
    {"saturated", &HeadNumbers::saturated}};

struct ShownHead {
  const HeadRow* row;
  double distance = 0;  // from the median head in the number below, over the usual distance
  std::string furthest = {};
};

double median_of(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return (numbers[(numbers.size() - 1) / 2] + numbers[numbers.size() / 2]) / 2;
}

// Usual is the median distance, or where most heads are alike the mean.
void note_distances(const char* name, std::optional<double> HeadNumbers::*number,
                    std::vector<ShownHead>& heads) {
  std::vector<double> distances;
  for (const ShownHead& head : heads) distances.push_back((head.row->numbers.*number).value_or(0));
  const double median = median_of(distances);
  for (double& distance : distances) distance = std::abs(distance - median);
  double usual = median_of(distances);
  if (usual == 0) {
    usual = std::accumulate(distances.begin(), distances.end(), 0.0) /
            static_cast<double>(distances.size());
  }
  for (std::size_t i = 0; usual > 0 && i < heads.size(); ++i) {
    if (distances[i] / usual <= heads[i].distance) continue;
    heads[i].distance = distances[i] / usual;
    heads[i].furthest = fmt::format("{} {}x", name, rounded(heads[i].distance, 2));
  }
}

ScreenTable head_table_of(std::vector<ShownHead> heads) {
  const ResultKey& key = heads.front().row->key;
  const bool may_stand_out = heads.size() > 2;  // of two each is as far from the middle
  for (const auto& [name, number] : kHeadColumns) {
    if (may_stand_out) note_distances(name, number, heads);
  }
  std::ranges::stable_sort(heads, std::ranges::greater{}, &ShownHead::distance);
  ScreenTable table;
  table.caption = fmt::format("{}, {}: {} head{}", key.experiment,
                              name_with_value(key.scaling, key.scaling_value), heads.size(),
                              heads.size() == 1 ? ""
                              : may_stand_out   ? "s, those furthest from the others first"
                                                : "s");
  table.header = {"head"};
  for (const auto& [name, number] : kHeadColumns) table.header.emplace_back(name);
  if (may_stand_out) table.header.emplace_back("stands out in");
  for (std::size_t i = 0; i < std::min(heads.size(), kMostHeads); ++i) {
    std::vector<std::string>& line = table.rows.emplace_back();
    line.push_back(std::to_string(heads[i].row->head));
    for (const auto& [name, number] : kHeadColumns) {
      const std::optional<double>& value = heads[i].row->numbers.*number;
      line.push_back(value ? rounded_short(*value, kHeadDigits)
                           : std::string(name_of(heads[i].row->numbers.status)));
    }
    if (may_stand_out) line.push_back(heads[i].furthest);
  }
  if (may_stand_out) {
    table.notes.emplace_back("2x: twice as far from the median head as heads usually are");
  }
  if (heads.size() > kMostHeads) {
    table.notes.push_back(fmt::format("{} more heads in heads.csv", heads.size() - kMostHeads));
  }
  return table;
}

}  // namespace

std::vector<ScreenTable> head_tables(std::span<const HeadRow> rows) {
  std::vector<std::vector<ShownHead>> groups;  // by experiment and scaling
  for (const HeadRow& row : rows) {
    const auto group = std::ranges::find_if(groups, [&](const std::vector<ShownHead>& heads) {
      return heads.front().row->key == row.key;
    });
    (group == groups.end() ? groups.emplace_back() : *group).push_back({&row});
  }
  std::vector<ScreenTable> tables;
  for (std::vector<ShownHead>& heads : groups) tables.push_back(head_table_of(std::move(heads)));
  return tables;
}

}  // namespace attnscale
