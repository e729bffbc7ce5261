#include "experiment/measure_block.h"

#include <algorithm>

namespace attnscale {

BlockMeasurer::BlockMeasurer(const Experiment& experiment, const Cell& cell, std::uint64_t seed)
    : experiment_(experiment),
      cell_(cell),
      seed_(seed),
      metrics_(per_query_metrics(experiment)),
      holds_scores_(needs_all_logits(experiment)),
      products_(cell.draw.products.size()) {
  for (const Scaling& scaling : experiment.scalings) {
    scalings_.emplace_back(experiment, cell.draw, scaling);
    for (const HistogramQuantity& quantity : experiment.histogram) {
      bins_.emplace_back(quantity, cell, scaling);
    }
  }
  values_.metrics.assign(scalings_.size(), std::vector<std::vector<double>>(metrics_.size()));
  values_.complements = values_.metrics;
  for (const MetricRow* row : metrics_) {
    values_.root_mean_squares.push_back(row->is_root_mean_square);
  }
  const auto powers = static_cast<std::size_t>(logit_powers(experiment));
  values_.logit_powers.assign(scalings_.size(), std::vector<std::vector<double>>(powers));
}

const BlockValues* BlockMeasurer::measure(std::int64_t block, const StopSignal& stop) {
  start_block(cell_.queries_in(block));
  bool abandoned = false;
  const BlockAddress address{seed_, cell_.identity, static_cast<std::uint64_t>(block)};
  for (ScalingMeasurer& scaling : scalings_) scaling.start_block(address);
  experiment_.sampler->draw_block(cell_.draw, address, values_.queries, [&](const ScoreTile& tile) {
    add_tile(tile);
    abandoned = stop && stop();
    return !abandoned;
  });
  if (abandoned) return nullptr;
  count_metrics();
  return &values_;
}

// Columns of the block's length, whose numbers are filled in group by group.
void BlockMeasurer::start_block(std::int64_t queries) {
  values_.queries = queries;
  const auto size = static_cast<std::size_t>(queries);
  for (std::size_t s = 0; s < scalings_.size(); ++s) {
    for (std::size_t m = 0; m < metrics_.size(); ++m) {
      values_.metrics[s][m].resize(size);
      if (metrics_[m]->complement) values_.complements[s][m].resize(size);
    }
    for (std::vector<double>& column : values_.logit_powers[s]) column.resize(size);
  }
  values_.histograms.assign(bins_.size(), {});
}

void BlockMeasurer::add_tile(const ScoreTile& tile) {
  if (holds_scores_) hold(tile);
  for (std::size_t s = 0; s < scalings_.size(); ++s) {
    scalings_[s].add_tile(tile);
    count_tile(s, tile);
    if (tile.first_key + tile.keys < cell_.draw.keys) continue;
    scalings_[s].measure_group(held(), products_, columns_of(tile, s));
  }
}

// Tiles of one group follow one another, so their scores are laid out as in one tile.
void BlockMeasurer::hold(const ScoreTile& tile) {
  if (tile.first_key == 0) {
    scores_.clear();
    stride_ = static_cast<std::size_t>(tile.stride);
    squared_key_norms_.clear();
    key_sums_.clear();
    squared_query_norms_.assign(tile.squared_query_norms.begin(), tile.squared_query_norms.end());
    query_sums_.assign(tile.query_sums.begin(), tile.query_sums.end());
  }
  scores_.insert(scores_.end(), tile.scores.begin(), tile.scores.end());
  squared_key_norms_.insert(squared_key_norms_.end(), tile.squared_key_norms.begin(),
                            tile.squared_key_norms.end());
  key_sums_.insert(key_sums_.end(), tile.key_sums.begin(), tile.key_sums.end());
  for (std::size_t p = 0; p < products_.size(); ++p) {
    if (tile.first_key == 0) products_[p].clear();
    products_[p].insert(products_[p].end(), tile.products[p].begin(), tile.products[p].end());
  }
}

// The places of the tile's queries in the block's columns.
GroupColumns BlockMeasurer::columns_of(const ScoreTile& tile, std::size_t scaling) {
  const auto place_in = [&](std::vector<double>& column) {
    return std::span(column).subspan(static_cast<std::size_t>(tile.first_query),
                                     static_cast<std::size_t>(tile.queries));
  };
  GroupColumns columns;
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    columns.metrics.push_back(place_in(values_.metrics[scaling][m]));
    columns.complements.push_back(
        metrics_[m]->complement ? place_in(values_.complements[scaling][m]) : std::span<double>());
  }
  for (std::vector<double>& column : values_.logit_powers[scaling]) {
    columns.logit_powers.push_back(place_in(column));
  }
  return columns;
}

// Counts the scores and logits of a tile, if histograms of them are asked for.
void BlockMeasurer::count_tile(std::size_t scaling, const ScoreTile& tile) {
  const auto stride = static_cast<std::size_t>(tile.stride);
  std::size_t place = scaling * experiment_.histogram.size();
  for (const HistogramQuantity& quantity : experiment_.histogram) {
    const std::size_t here = place++;
    if (quantity.of == HistogramOf::kMetric) continue;
    const std::span<const double> numbers =
        quantity.of == HistogramOf::kScores ? tile.scores : scalings_[scaling].logits();
    for (std::size_t start = 0; start < numbers.size(); start += stride) {
      bins_[here].count(numbers.subspan(start, static_cast<std::size_t>(tile.queries)),
                        values_.histograms[here]);
    }
  }
}

// Counts the finished columns of the metrics that histograms are asked for.
void BlockMeasurer::count_metrics() {
  std::size_t place = 0;
  for (const std::vector<std::vector<double>>& columns : values_.metrics) {
    for (const HistogramQuantity& quantity : experiment_.histogram) {
      const std::size_t here = place++;
      const auto metric = std::ranges::find(metrics_, quantity.metric);
      if (metric == metrics_.end()) continue;
      const auto column = static_cast<std::size_t>(metric - metrics_.begin());
      bins_[here].count(columns[column], values_.histograms[here]);
    }
  }
}

}  // namespace attnscale
