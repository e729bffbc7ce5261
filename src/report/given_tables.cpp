#include <fmt/core.h>

#include <map>
#include <string>
#include <utility>

#include "report/number_text.h"
#include "report/report.h"

namespace attnscale {
namespace {

constexpr std::size_t kMostQueries = 8;  // of an experiment; if it has more, the first is shown
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
  return fmt::format("{} {} {}", row.experiment, row.head, row.query);
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

ScreenTable table_of(const GivenQuery& query, bool has_heads) {
  ScreenTable table;
  const WeightRow& first = *query.weights.front();
  const std::string head = has_heads ? fmt::format("head {}, ", first.head) : "";
  table.caption = fmt::format("{}: {}query {}", first.experiment, head, first.query);
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

std::string baseline_text(const BaselineRow& row) {
  if (!row.baseline || !row.baseline_std_error) return text_of(row.baseline);
  return estimate_and_error(*row.baseline, *row.baseline_std_error);
}

ScreenTable baseline_table_of(const BaselineRow& row) {
  ScreenTable table;
  table.caption = fmt::format(
      "{}: {} given queries beside {} random ones (normal entries of mean 0 and spread 1, as many "
      "visible keys)",
      row.key.experiment, grouped(row.queries), grouped(row.baseline_queries));
  table.header = {"metric", "scaling", "given", "random", "given / random"};
  table.label_columns = 2;
  return table;
}

}  // namespace

std::vector<ScreenTable> given_tables(std::span<const WeightRow> weights,
                                      std::span<const OutputRow> outputs) {
  struct Found {
    std::size_t queries = 0, shown = 0;
    bool has_heads = false;
  };
  const std::vector<GivenQuery> queries = queries_of(weights, outputs);
  std::map<std::string, Found> found;
  for (const GivenQuery& query : queries) {
    Found& of_experiment = found[query.weights.front()->experiment];
    ++of_experiment.queries;
    if (query.weights.front()->head > 0) of_experiment.has_heads = true;
  }
  std::vector<ScreenTable> tables;
  for (const GivenQuery& query : queries) {
    const std::string& experiment = query.weights.front()->experiment;
    Found& all = found[experiment];
    const bool are_many = all.queries > kMostQueries;
    if (all.shown++ > 0 && are_many) continue;
    tables.push_back(table_of(query, all.has_heads));
    if (!are_many) continue;
    tables.back().notes.push_back(
        fmt::format("{} more queries of {} in weights.csv", all.queries - 1, experiment));
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
    tables.back().rows.push_back({row.metric,
                                  name_with_value(row.key.scaling, row.key.scaling_value),
                                  text_of(row.estimate), baseline_text(row), text_of(row.ratio)});
  }
  return tables;
}

}  // namespace attnscale
