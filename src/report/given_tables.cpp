#include "report/given_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "experiment/given_scores.h"
#include "report/number_text.h"

namespace attnscale {
namespace {

constexpr std::ptrdiff_t kMostQueriesShown = 8;  // of an experiment; of more, the first is shown
constexpr std::int64_t kMostKeys = 32;
constexpr std::int64_t kMostComponents = 16;  // of an output
constexpr int kDigits = 4;  // one more than the lesson's longest numbers have, for small ones

struct GivenQuery {
  std::vector<const WeightRow*> weights;                     // at least one
  std::vector<std::pair<std::string, std::string>> outputs;  // scaling and "(0.76, 0.33"
};

// Names one query of one experiment.
template <typename Row>
std::string key_of(const Row& row) {
  return fmt::format("{} {} {}", row.key.experiment, row.head, row.query);
}

std::vector<GivenQuery> queries_of(std::span<const WeightRow> weights,
                                   std::span<const OutputRow> outputs) {
  std::vector<GivenQuery> queries;
  std::map<std::string, std::size_t> index_of;
  for (const WeightRow& row : weights) {
    const std::size_t index = index_of.try_emplace(key_of(row), queries.size()).first->second;
    if (index == queries.size()) queries.emplace_back();
    queries[index].weights.push_back(&row);
  }
  for (const OutputRow& row : outputs) {
    const auto index = index_of.find(key_of(row));
    if (index == index_of.end() || row.component > kMostComponents) continue;
    auto& vectors = queries[index->second].outputs;
    const std::string scaling = name_with_value(row.key.scaling, row.key.scaling_value);
    if (vectors.empty() || vectors.back().first != scaling) {
      vectors.emplace_back(scaling, "(");
    } else {
      vectors.back().second += ", ";
    }
    vectors.back().second +=
        row.component < kMostComponents ? rounded_short(row.output, kDigits) : "...";
  }
  return queries;
}

ScreenTable table_of(const GivenQuery& query, bool has_heads) {
  ScreenTable table;
  const WeightRow& first = *query.weights.front();
  const std::string head = has_heads ? fmt::format("head {}, ", first.head) : "";
  table.caption = fmt::format("{}: {}query {}", first.key.experiment, head, first.query);
  table.header = {"scaling", "key", "score", "logit", "weight", "slope"};
  table.label_columns = 2;
  std::size_t left_out = 0;
  for (const WeightRow* row : query.weights) {
    if (row->key_number >= kMostKeys) {
      ++left_out;
      continue;
    }
    table.rows.push_back({name_with_value(row->key.scaling, row->key.scaling_value),
                          std::to_string(row->key_number), rounded_short(row->score, kDigits),
                          rounded_short(row->logit, kDigits), rounded(row->weight, kDigits),
                          rounded(row->slope, kDigits)});
  }
  for (const auto& [scaling, vector] : query.outputs) {
    table.notes.push_back(fmt::format("output, {}: {})", scaling, vector));
  }
  if (left_out > 0) {
    table.notes.push_back(fmt::format("{} more lines in weights.csv", left_out));
  }
  return table;
}

std::string text_of(const std::optional<double>& number) {
  return number ? rounded_short(*number, kDigits) : "-";
}

std::string random_text(const RandomNumbers& random) {
  if (!random.estimate || !random.std_error) return text_of(random.estimate);
  return estimate_and_error(*random.estimate, *random.std_error);
}

ScreenTable baseline_table_of(const BaselineRow& row) {
  ScreenTable table;
  table.header = {"metric", "scaling", "given"};
  table.label_columns = 2;
  std::string sides;
  const auto add = [&](const RandomNumbers& random, std::string_view name, std::string_view what) {
    if (random.queries == 0) return;
    table.header.insert(table.header.end(), {std::string(name), fmt::format("given / {}", name)});
    sides += fmt::format("{}{} {} ones ({})", sides.empty() ? "" : " and ", grouped(random.queries),
                         name, what);
  };
  add(row.normal, "random", "normal entries of mean 0 and spread 1, as many visible keys");
  add(row.matched, "matched", "normal entries of each head's own mean and spread");
  table.caption = fmt::format("{}: {} given queries beside {}", row.key.experiment,
                              grouped(row.queries), sides);
  return table;
}

// "32 query heads share 8 heads of keys, 4 in a row each", or how many heads there are.
std::string heads_text(const Given& given) {
  if (!given.scores.empty()) return "";
  const std::int64_t queries = given.queries.heads();
  std::string text;
  for (const auto& [name, matrix] : {std::pair("keys", &given.keys), {"values", &given.values}}) {
    if (matrix->empty() || matrix->heads() == queries) continue;
    text += fmt::format("{}{} query heads share {} heads of {}, {} in a row each",
                        text.empty() ? "" : "; ", queries, matrix->heads(), name,
                        queries / matrix->heads());
  }
  return text;
}

std::string hidden_text(const Given& given) {
  if (!hides_by_numbers(given)) return "";
  SeenKeys seen(given);
  for (std::int64_t head = 0; head < head_count(given); ++head) {
    for (std::int64_t query = 0; query < query_count(given); ++query) seen.of(head, query);
  }
  const HiddenKeys& hidden = seen.hidden();
  std::string text;
  const auto add = [&](std::int64_t count, std::string_view by) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(count), by);
  };
  const bool by_numbers = hidden.by_mask + hidden.by_score + hidden.by_bias > 0;
  if (!by_numbers) return "";
  const std::string low = given.masked_below
                              ? fmt::format("of {} or less", rounded_short(*given.masked_below, 6))
                              : "of -inf";
  add(hidden.by_mask, "by the mask");
  add(hidden.by_score, "by a score " + low);
  add(hidden.by_bias, "by a bias " + low);
  add(hidden.by_place, "by where they stand");
  const std::int64_t all = head_count(given) * query_count(given) * all_keys(given);
  return fmt::format("of {} keys of all queries hidden: {}", grouped(all), text);
}

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

std::vector<std::string> given_lines(const Config& config) {
  std::vector<std::string> lines;
  for (const Experiment& experiment : config.experiments) {
    if (!experiment.given) continue;
    const std::string heads = heads_text(*experiment.given);
    const std::string hidden = hidden_text(*experiment.given);
    if (heads.empty() && hidden.empty()) continue;
    const std::string_view between = heads.empty() || hidden.empty() ? "" : "; ";
    lines.push_back(fmt::format("{}: {}{}{}", experiment.name, heads, between, hidden));
  }
  return lines;
}

std::vector<ScreenTable> given_tables(std::span<const WeightRow> weights,
                                      std::span<const OutputRow> outputs) {
  const std::vector<GivenQuery> queries = queries_of(weights, outputs);
  std::vector<ScreenTable> tables;
  for (auto first = queries.begin(); first != queries.end();) {
    const std::string& experiment = first->weights.front()->key.experiment;
    const auto is_of_another = [&](const GivenQuery& query) {
      return query.weights.front()->key.experiment != experiment;
    };
    const auto has_head = [](const GivenQuery& query) { return query.weights.front()->head > 0; };
    const auto end = std::find_if(first, queries.end(), is_of_another);
    const auto shown = end - first > kMostQueriesShown ? first + 1 : end;
    const bool has_heads = std::any_of(first, end, has_head);
    for (auto query = first; query != shown; ++query) tables.push_back(table_of(*query, has_heads));
    if (shown != end) {
      tables.back().notes.push_back(
          fmt::format("{} more queries of {} in weights.csv", end - shown, experiment));
    }
    first = end;
  }
  return tables;
}

std::vector<ScreenTable> baseline_tables(std::span<const BaselineRow> rows) {
  std::vector<ScreenTable> tables;
  const std::string* experiment = nullptr;
  for (const BaselineRow& row : rows) {
    if (experiment == nullptr || *experiment != row.key.experiment) {
      tables.push_back(baseline_table_of(row));
      experiment = &row.key.experiment;
    }
    std::vector<std::string>& line = tables.back().rows.emplace_back();
    line = {row.metric, name_with_value(row.key.scaling, row.key.scaling_value),
            text_of(row.estimate)};
    for (const RandomNumbers& random : {row.normal, row.matched}) {
      if (random.queries == 0) continue;
      line.insert(line.end(), {random_text(random), text_of(random.ratio)});
    }
  }
  return tables;
}

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
