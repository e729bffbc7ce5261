#include "experiment/given.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>

#include "experiment/given_fold.h"
#include "experiment/given_scores.h"
#include "experiment/top_scores.h"
#include "numerics/central_sums.h"
#include "numerics/precision.h"
#include "numerics/query_weights.h"

namespace attnscale {
namespace {

using Numbers = std::vector<double>;

// One query: which it is, and what it sees.
struct GivenQuery {
  std::int64_t head;
  std::int64_t query;
  QueryScores seen;
};

// Those of the experiment, and what lines of its parts hold besides.
std::vector<const MetricRow*> measured_metrics(const Experiment& experiment) {
  std::vector<const MetricRow*> metrics = experiment.metrics;
  if (experiment.by.empty()) return metrics;
  for (const std::string_view name : kHeadMetrics) {
    const MetricRow* const metric = find_metric(name);
    if (std::ranges::find(metrics, metric) == metrics.end()) metrics.push_back(metric);
  }
  return metrics;
}

// Measures queries under one scaling.
class GivenMeasurer {
 public:
  GivenMeasurer(const Experiment& experiment, const Scaling& scaling)
      : metrics_(measured_metrics(experiment)),
        scaling_(scaling),
        given_(*experiment.given),
        compares_(asks_for_exact_weights(experiment) && !scaling.weights.precision.is_exact()),
        saturated_above_(experiment.saturated_above) {
    if (const auto rule = product_rule(scaling, size())) rounded_.emplace(given_, *rule);
    if (const auto rule = exact_product_rule(scaling)) stored_.emplace(given_, *rule);
  }

  // Scales, weighs and measures one query, whose logits and weights are kept until the next.
  const QueryNumbers& measure(const GivenQuery& query) {
    const QueryScores& seen = query.seen;
    prepare(query);
    const PrecisionSteps& precision = scaling_.weights.precision;
    const bool may_hide = !precision.has_exact_logits() && !program_->linear();
    peaks_.assign(may_hide ? seen.scores.size() : 0, 0);
    top_scores_->start(1);
    fill_logits(*program_, seen, products(rounded_, query), precision, peaks_, logits_);
    weights_.weigh(logits_, scaling_.weights, 0);
    const auto is_finite = [](double number) { return std::isfinite(number); };
    const bool are_finite =
        std::ranges::all_of(peaks_, is_finite) && std::ranges::all_of(logits_, is_finite);
    if (!are_finite) weights_.mark_overflow();
    measured_.values.assign(metrics_.size(), std::numeric_limits<double>::quiet_NaN());
    if (metrics_.empty()) return measured_;
    measured_.logits = are_finite ? CentralSums::of(logits_) : CentralSums();
    QueryContext context{top_scores_->slope(0), saturated_above_, place_of(query), seen.keys};
    if (compares_) {
      fill_logits(*exact_program_, seen, products(stored_, query), {}, {}, exact_logits_);
      exact_weights_.weigh(exact_logits_, {scaling_.weights.normaliser}, 0);
      context.exact = &exact_weights_;
    }
    for (std::size_t m = 0; m < metrics_.size(); ++m) {
      if (metrics_[m]->kind != MetricKind::kPerQuery) continue;
      measured_.values[m] = measure_weights(*metrics_[m], weights_, context);
    }
    return measured_;
  }

  const QueryWeights& weights() const { return weights_; }

 private:
  FormulaSize size() const { return {.d = static_cast<double>(size_of(given_).value_or(1))}; }

  // The query's scores under a rule, if there is one.
  static std::span<const double> products(std::optional<GivenScores>& rule,
                                          const GivenQuery& query) {
    return rule ? rule->of(query.head, query.query).scores : query.seen.scores;
  }

  // Also notes the top scores.
  void fill_logits(const FormulaProgram& program, const QueryScores& seen,
                   std::span<const double> products, const PrecisionSteps& precision,
                   std::span<double> peaks, Numbers& filled) {
    filled.resize(seen.scores.size());
    for (std::size_t first = 0, end = 0; first < filled.size(); first = end) {
      end = end_of_run(seen.keys, first);
      const auto part = [&](auto numbers) {
        return numbers.empty() ? numbers : numbers.subspan(first, end - first);
      };
      const FormulaScores scores{part(seen.scores),
                                 1,
                                 static_cast<double>(seen.keys[first]),
                                 seen.squared_query_norm,
                                 part(seen.squared_key_norms),
                                 seen.query_sum,
                                 part(seen.key_sums)};
      const std::span<double> logits = part(std::span(filled));
      FormulaScores taken = scores;
      taken.scores = part(products);
      program.evaluate(taken, precision, logits, part(peaks));
      add_biases(part(seen.biases), precision.logit, logits);
      top_scores_->add_keys(scores, logits);
    }
  }

  double place_of(const GivenQuery& query) const {
    return static_cast<double>(attnscale::place_of(given_, query.query));
  }

  // Where keys from `first` on stop to follow one another, for a formula that asks for their
  // places.
  std::size_t end_of_run(std::span<const std::int64_t> keys, std::size_t first) const {
    if (!mentions(scaling_.logit, "j")) return keys.size();
    std::size_t end = first + 1;
    while (end < keys.size() && keys[end] == keys[end - 1] + 1) ++end;
    return end;
  }

  static void add_biases(std::span<const double> biases, Precision precision,
                         std::span<double> logits) {
    for (std::size_t key = 0; key < biases.size(); ++key) {
      logits[key] = round_to(precision, logits[key] + round_to(precision, biases[key]));
    }
  }

  void prepare(const GivenQuery& query) {
    FormulaSize size = this->size();
    if (mentions(scaling_.logit, "keys")) size.keys = static_cast<double>(query.seen.scores.size());
    if (mentions(scaling_.logit, "i")) {
      size.i = place_of(query);
    }
    if (size_ == size) return;
    size_ = size;
    exact_program_.emplace(scaling_.logit, size);
    program_ = exact_program_;
    if (scaling_.weights.precision.scaled_queries != Precision::kFloat64) {
      program_.emplace(bare_queries(scaling_.logit, size)->logit, size);
    }
    top_scores_.emplace(scaling_.logit, size);
  }

  std::vector<const MetricRow*> metrics_;
  const Scaling& scaling_;
  const Given& given_;
  std::optional<FormulaSize> size_;
  std::optional<FormulaProgram> program_;  // of the scores as they are rounded
  std::optional<FormulaProgram> exact_program_;
  std::optional<GivenScores> rounded_;
  std::optional<GivenScores> stored_;  // rounded to what is stored, and no further
  std::optional<TopScores> top_scores_;
  bool compares_;  // with the same query in float64
  double saturated_above_;
  QueryNumbers measured_;
  Numbers peaks_;
  Numbers logits_;
  QueryWeights weights_;
  Numbers exact_logits_;
  QueryWeights exact_weights_;
};

ResultKey given_key(const Config& config, const Experiment& experiment, const Scaling& scaling) {
  return {config.name,
          static_cast<std::int64_t>(config.seed),
          experiment.name,
          "",
          {},
          size_of(*experiment.given),
          all_keys(*experiment.given),
          scaling.name,
          scaling.value};
}

// What was found out of a group of queries, scaling by scaling for each of them.
struct MeasuredGroup {
  QueryGroup place;
  std::vector<std::int64_t> keys;  // that each query sees
  std::vector<QueryNumbers> numbers;
  std::vector<WeightRow> weights;
  std::vector<OutputRow> outputs;
};

void add_weights(const Experiment& experiment, const ResultKey& key_of_line,
                 const GivenQuery& query, const QueryWeights& found, MeasuredGroup& group) {
  const std::span<const double> weights = found.weights();
  for (std::size_t key = 0; key < weights.size(); ++key) {
    group.weights.push_back({key_of_line, query.head, query.query, query.seen.keys[key],
                             query.seen.scores[key], found.logits()[key], weights[key],
                             found.slope(key)});
  }
  const GivenMatrix& values = experiment.given->values;
  if (values.empty()) return;
  Numbers output(static_cast<std::size_t>(values.columns(0)));
  Numbers value;
  const std::int64_t head = shared_head(*experiment.given, values, query.head);
  for (std::size_t key = 0; key < weights.size(); ++key) {
    values.read_row(head, query.seen.keys[key], value);
    for (std::size_t i = 0; i < output.size(); ++i) output[i] += weights[key] * value[i];
  }
  for (std::size_t i = 0; i < output.size(); ++i) {
    group.outputs.push_back({key_of_line, query.head, query.query, static_cast<std::int64_t>(i),
                             round_to(found.rule().precision.output, output[i])});
  }
}

// Measures groups, whatever other workers do.
class GivenWorker {
 public:
  GivenWorker(const Experiment& experiment, const std::vector<ResultKey>& keys)
      : experiment_(experiment), keys_(keys), scores_(*experiment.given) {
    for (const Scaling& scaling : experiment.scalings) {
      measurers_.emplace_back(experiment, scaling);
    }
  }

  // Nothing if `stop` said so.
  std::shared_ptr<MeasuredGroup> measure(const QueryGroup& place, const StopSignal& stop) {
    auto group = std::make_shared<MeasuredGroup>();
    group->place = place;
    for (std::int64_t q = place.first; q < place.end; ++q) {
      if (stop && stop()) return nullptr;
      const GivenQuery query{place.head, q, scores_.of(place.head, q)};
      group->keys.push_back(std::ssize(query.seen.keys));
      for (std::size_t s = 0; s < measurers_.size(); ++s) {
        group->numbers.push_back(measurers_[s].measure(query));
        if (!experiment_.given->weights) continue;
        add_weights(experiment_, keys_[s], query, measurers_[s].weights(), *group);
      }
    }
    return group;
  }

 private:
  const Experiment& experiment_;
  const std::vector<ResultKey>& keys_;
  GivenScores scores_;
  std::vector<GivenMeasurer> measurers_;
};

// Takes group after group.
class GivenGathering {
 public:
  GivenGathering(const Config& config, const Experiment& experiment)
      : experiment_(experiment),
        by_head_(is_split_by(experiment, GivenPart::kHead)),
        by_query_(is_split_by(experiment, GivenPart::kQuery)),
        of_query_(measured_metrics(experiment)),
        of_head_(experiment.scalings.size(), of_query_),
        of_all_(of_head_) {
    for (const Scaling& scaling : experiment.scalings) {
      keys_.push_back(given_key(config, experiment, scaling));
    }
  }

  // Of the lines under each scaling.
  const std::vector<ResultKey>& keys() const { return keys_; }

  void add(const MeasuredGroup& group) {
    const auto& [head, first, end] = group.place;
    for (std::size_t i = 0; i < group.numbers.size(); ++i) {
      const std::size_t s = i % keys_.size();
      of_all_[s].add(group.numbers[i]);
      if (by_head_) of_head_[s].add(group.numbers[i]);
      if (!by_query_) continue;
      of_query_.clear();
      of_query_.add(group.numbers[i]);
      const auto query = i / keys_.size();
      results_.queries.push_back(
          {keys_[s], head, first + static_cast<std::int64_t>(query), of_query_.head_numbers()});
      results_.queries.back().key.keys = group.keys[query];
    }
    std::ranges::copy(group.weights, std::back_inserter(results_.weights));
    std::ranges::copy(group.outputs, std::back_inserter(results_.outputs));
    if (end < query_count(*experiment_.given) || !by_head_) return;
    for (std::size_t s = 0; s < keys_.size(); ++s) {
      results_.heads.push_back({keys_[s], head, of_head_[s].head_numbers()});
      of_head_[s].clear();
    }
  }

  GivenResults finish() {
    for (std::size_t s = 0; s < keys_.size(); ++s) {
      for (std::size_t m = 0; m < experiment_.metrics.size(); ++m) {
        ResultRow row = of_all_[s].row(m);
        row.key = keys_[s];
        results_.rows.push_back(std::move(row));
      }
    }
    return std::move(results_);
  }

 private:
  const Experiment& experiment_;
  bool by_head_;
  bool by_query_;
  std::vector<ResultKey> keys_;
  GivenFold of_query_;
  std::vector<GivenFold> of_head_;  // under each scaling
  std::vector<GivenFold> of_all_;
  GivenResults results_;
};

}  // namespace

std::optional<GivenResults> measure_given(const Config& config, const Experiment& experiment,
                                          const GivenOptions& options) {
  GivenGathering gathering(config, experiment);
  const std::vector<QueryGroup> groups = query_groups(*experiment.given);
  const auto make_worker = [&]() -> GroupWork {
    const auto worker = std::make_shared<GivenWorker>(experiment, gathering.keys());
    return [&, worker](std::int64_t number) -> Gather {
      const auto found = worker->measure(groups[static_cast<std::size_t>(number)], options.stop);
      if (found == nullptr) return nullptr;
      return [&, found] {
        gathering.add(*found);
        if (options.progress) options.progress(found->place.end - found->place.first);
      };
    };
  };
  if (!options.run(std::ssize(groups), make_worker)) return std::nullopt;
  return gathering.finish();
}

double expected_given_seconds(const Experiment& experiment) {
  constexpr double kPerComponent = 0.1e-9;  // of a product
  constexpr double kPerLogit = 25e-9;       // scaled, weighed and measured
  constexpr double kPerRounded = 50e-9;     // in a narrower precision
  const Given& given = *experiment.given;
  double scores = 0;
  for (std::int64_t query = 0; query < query_count(given); ++query) {
    scores += static_cast<double>(keys_by_place(given, query).count());
  }
  scores *= static_cast<double>(head_count(given));
  double per_score =
      given.scores.empty() ? static_cast<double>(*size_of(given)) * kPerComponent : 0;
  for (const Scaling& scaling : experiment.scalings) {
    per_score += scaling.weights.precision.is_exact() ? kPerLogit : kPerRounded;
  }
  return scores * per_score;
}

}  // namespace attnscale
