#include "report/given_tables.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "report/number_text.h"

namespace attnscale {
namespace {

constexpr std::size_t kMostQueries = 8;  // of one experiment; of more the first one alone
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

std::string caption_of(const GivenQuery& query, bool has_heads) {
  const auto& [experiment, head, number] = query.key;
  return experiment + (has_heads ? ": head " + std::to_string(head) + ", query " : ": query ") +
         std::to_string(number);
}

ScreenTable table_of(const GivenQuery& query, bool has_heads) {
  ScreenTable table;
  table.caption = caption_of(query, has_heads);
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
  struct Found {
    std::size_t queries = 0;
    bool has_heads = false;
  };
  const std::vector<GivenQuery> queries = queries_of(weights, outputs);
  std::map<std::string, Found> found;
  for (const GivenQuery& query : queries) {
    Found& of_experiment = found[std::get<0>(query.key)];
    ++of_experiment.queries;
    if (std::get<1>(query.key) > 0) of_experiment.has_heads = true;
  }
  std::vector<ScreenTable> tables;
  std::map<std::string, std::size_t> shown;
  for (const GivenQuery& query : queries) {
    const std::string& experiment = std::get<0>(query.key);
    const Found& all = found[experiment];
    const bool are_many = all.queries > kMostQueries;
    if (shown[experiment]++ > 0 && are_many) continue;
    tables.push_back(table_of(query, all.has_heads));
    if (!are_many) continue;
    tables.back().notes.push_back(std::to_string(all.queries - 1) + " more queries of " +
                                  experiment + " in weights.csv");
  }
  return tables;
}

}  // namespace attnscale
