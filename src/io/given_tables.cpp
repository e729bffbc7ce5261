#include "io/given_tables.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "io/number_text.h"

namespace attnscale {
namespace {

constexpr std::size_t kMostQueries = 8;  // of one experiment
constexpr std::int64_t kMostKeys = 32;
constexpr std::int64_t kMostComponents = 16;  // of an output
constexpr int kDigits = 4;  // as many as the lesson's longest numbers, and one more for small ones

using QueryKey = std::tuple<std::string, std::int64_t, std::int64_t>;  // experiment, head, query

struct GivenQuery {
  QueryKey key;
  std::vector<const WeightRow*> weights;
  std::vector<std::pair<std::string, std::string>> outputs;  // scaling and "(0.76, 0.33"
};

std::vector<GivenQuery> queries_of(std::span<const WeightRow> weights,
                                   std::span<const OutputRow> outputs) {
  std::vector<GivenQuery> queries;
  std::map<QueryKey, std::size_t> index_of;
  for (const WeightRow& row : weights) {
    const QueryKey key(row.experiment, row.head, row.query);
    const std::size_t index = index_of.try_emplace(key, queries.size()).first->second;
    if (index == queries.size()) queries.push_back({key, {}, {}});
    queries[index].weights.push_back(&row);
  }
  for (const OutputRow& row : outputs) {
    const auto index = index_of.find({row.experiment, row.head, row.query});
    if (index == index_of.end()) continue;
    auto& vectors = queries[index->second].outputs;
    if (row.component > kMostComponents) continue;
    if (vectors.empty() || vectors.back().first != row.scaling) {
      vectors.emplace_back(row.scaling, "(");
    } else {
      vectors.back().second += ", ";
    }
    vectors.back().second +=
        row.component < kMostComponents ? rounded_short(row.output, kDigits) : "...";
  }
  return queries;
}

std::string caption_of(const GivenQuery& query) {
  const auto& [experiment, head, number] = query.key;
  return experiment + (head > 0 ? ": head " + std::to_string(head) + ", query " : ": query ") +
         std::to_string(number);
}

ScreenTable table_of(const GivenQuery& query) {
  ScreenTable table;
  table.caption = caption_of(query);
  table.header = {"scaling", "key", "score", "logit", "weight", "slope"};
  table.label_columns = 2;
  std::size_t left_out = 0;
  for (const WeightRow* row : query.weights) {
    if (row->key >= kMostKeys) {
      ++left_out;
      continue;
    }
    table.rows.push_back({row->scaling, std::to_string(row->key),
                          rounded_short(row->score, kDigits), rounded_short(row->logit, kDigits),
                          rounded(row->weight, kDigits), rounded(row->slope, kDigits)});
  }
  for (const auto& [scaling, vector] : query.outputs) {
    table.notes.push_back("output, " + scaling + ": " + vector + ")");
  }
  if (left_out > 0) {
    table.notes.push_back(std::to_string(left_out) + " more lines in weights.csv");
  }
  return table;
}

}  // namespace

std::vector<ScreenTable> given_tables(std::span<const WeightRow> weights,
                                      std::span<const OutputRow> outputs) {
  struct Shown {
    std::size_t queries = 0;
    std::size_t last_table = 0;
  };
  std::vector<ScreenTable> tables;
  std::map<std::string, Shown> shown;
  for (const GivenQuery& query : queries_of(weights, outputs)) {
    Shown& of_experiment = shown[std::get<0>(query.key)];
    if (of_experiment.queries++ >= kMostQueries) continue;
    of_experiment.last_table = tables.size();
    tables.push_back(table_of(query));
  }
  for (const auto& [experiment, counts] : shown) {
    if (counts.queries <= kMostQueries) continue;
    tables[counts.last_table].notes.push_back(std::to_string(counts.queries - kMostQueries) +
                                              " more queries of " + experiment + " in weights.csv");
  }
  return tables;
}

}  // namespace attnscale
