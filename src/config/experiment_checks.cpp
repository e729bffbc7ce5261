#include "config/experiment_checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "config/file_lines.h"
#include "config/nearest_name.h"
#include "config/object.h"
#include "config/values.h"
#include "experiment/expected_logits.h"
#include "experiment/given_scores.h"
#include "experiment/result_row.h"
#include "formula/number_words.h"
#include "formula/program.h"

namespace attnscale {
namespace {

std::string describe_law(const Law& law) {
  return fmt::format("the law {} with mean {} and sd {}{}", quote(law.row->name),
                     number_text(law.mean), number_text(law.sd),
                     law.is_clipped() ? ", clipped at " + number_text(law.clip) : "");
}

std::string describe_entries(const Entries& entries) {
  if (!entries.blocks.empty()) return "entries in blocks";
  if (entries.queries == entries.keys) return describe_law(entries.queries);
  return fmt::format("queries of {} and keys of {}", describe_law(entries.queries),
                     describe_law(entries.keys));
}

void check_aligned_keys(const JsonValue& value, const Experiment& experiment) {
  const std::int64_t fewest = std::ranges::min(experiment.keys);
  for (const Entries& entries : experiment.entries) {
    if (entries.aligned_keys.value_or(0) <= fewest) continue;
    refuse(said_or_whole(value, "entries"),
           fmt::format("{} aligned keys, but a query has only {} {}; ask for at most that many, or "
                       "for more \"keys\"",
                       *entries.aligned_keys, fewest, fewest == 1 ? "key" : "keys"));
  }
}

// Blocks make up the head: their sizes leave one value of d.
void check_blocks(const JsonValue& value, const Experiment& experiment) {
  for (const Entries& entries : experiment.entries) {
    std::int64_t size = 0;
    for (const EntriesBlock& block : entries.blocks) size += block.d;
    if (size == 0) continue;
    for (const std::int64_t d : experiment.d) {
      if (d == size) continue;
      refuse(said_or_whole(value, "d"),
             fmt::format("the blocks of the entries {} have {} numbers in all, but d is {}; write "
                         "\"d\": {}",
                         quote(entries.name), size, d, size));
    }
  }
}

bool can_draw(const SamplerRow& sampler, const Entries& entries, NormRequest norms) {
  if (!sampler.can_draw(entries)) return false;
  if (norms == NormRequest::kNone) return true;
  return sampler.can_give_norms(entries) && (norms != NormRequest::kSums || sampler.draws_entries);
}

// The names of the samplers that can draw these entries, and their norms if they are asked for.
std::string able_samplers(const Entries& entries, NormRequest norms) {
  std::vector<std::string_view> able;
  for (const SamplerRow& row : sampler_table()) {
    if (can_draw(row, entries, norms)) able.push_back(row.name);
  }
  return join(able);
}

void check_sampler(const JsonValue& value, const Experiment& experiment) {
  for (const Entries& entries : experiment.entries) {
    if (experiment.sampler->can_draw(entries)) continue;
    refuse(said_or_whole(value, "entries"),
           fmt::format("the sampler {} has no rule for {}; samplers that can draw it: {}",
                       quote(experiment.sampler->name), describe_entries(entries),
                       able_samplers(entries, NormRequest::kNone)));
  }
}

// What a scaling asks of the sampler beside scores.
void check_norms(const JsonValue& value, const Experiment& experiment, const Scaling& scaling) {
  const NormRequest norms = norms_for(scaling);
  for (const Entries& entries : experiment.entries) {
    if (can_draw(*experiment.sampler, entries, norms)) continue;
    refuse(said_or_whole(value, "scalings"),
           fmt::format("the scaling {} needs norms, and the sampler {} cannot give those of {}; "
                       "samplers that can: {}",
                       quote(scaling.name), quote(experiment.sampler->name),
                       describe_entries(entries), able_samplers(entries, norms)));
  }
  if (!has_norm(scaling.logit)) return;
  for (const std::int64_t d : experiment.d) {
    const WiderVectors wider = vectors_of(scaling, d);
    if (wider.query == d && wider.key == d) continue;
    if (wider.query < d || wider.key < d) {
      refuse(said_or_whole(value, "scalings"),
             fmt::format("the scaling {} takes norms of a wider projection, which has an integer "
                         "from d to {} numbers; at d = {} this has not: {}",
                         quote(scaling.name), kWidestVector, d, formula(scaling)));
    }
    const auto entries = std::ranges::find_if_not(experiment.entries, can_widen);
    if (entries == experiment.entries.end()) continue;
    refuse(said_or_whole(value, "scalings"),
           fmt::format("the scaling {} takes norms of more than the head, which are drawn for "
                       "normal entries of mean 0 without alignment only, not for {}",
                       quote(scaling.name), describe_entries(*entries)));
  }
}

// What a precision asks of the sampler and of the formula beside scores.
void check_entries(const JsonValue& value, const Experiment& experiment, const Scaling& scaling) {
  const PrecisionSteps& steps = scaling.weights.precision;
  if (!steps.takes_entries()) return;
  const auto refuse_it = [&](const std::string& why) {
    refuse(said_or_whole(value, "scalings"),
           fmt::format("the precision of the scaling {} rounds entries or sums of their products, "
                       "{}",
                       quote(scaling.name), why));
  };
  if (experiment.given) {
    if (!experiment.given->scores.empty()) {
      refuse_it("which given scores no longer have; give queries and keys");
    }
    if (steps.quantised == Precision::kInt8Tensor) {
      refuse_it(
          "with one scale for all keys of a query, of which given queries may see different ones; "
          "write \"int8_row\"");
    }
    if (steps.scaled_queries != Precision::kFloat64 &&
        (mentions(scaling.logit, "keys") || mentions(scaling.logit, "i"))) {
      refuse_it(
          "with \"scaled_queries\", for which a formula of given numbers names neither keys nor i");
    }
  } else if (!experiment.sampler->gives_products) {
    refuse_it(fmt::format("and the sampler {} does not give these; write \"sampler\": \"vectors\"",
                          quote(experiment.sampler->name)));
  }
  if (has_norm(scaling.logit)) {
    refuse_it("and norms are of entries that are not; write a formula without a norm");
  }
  if (steps.scaled_queries == Precision::kFloat64) return;
  const auto bare = bare_queries(scaling.logit, {});
  if (bare && bare->logit != scaling.logit) return;
  refuse_it(
      "with \"scaled_queries\", for which one number must stand on q in every product, as in "
      "\"(q / sqrt(d)).k\"");
}

// Every number of every formula, at all sizes that it depends on.
void check_formulas(const JsonValue& value, const Experiment& experiment) {
  const auto expect_finite = [&](const Scaling& scaling, double d, double keys) {
    const FormulaProgram program(scaling.logit, {d, keys, keys - 1});
    if (program.is_finite()) return;
    refuse(said_or_whole(value, "scalings"),
           fmt::format("the scaling {} has a number that is not finite at d = {} and keys = {}: {}",
                       quote(scaling.name), number_text(d), number_text(keys), formula(scaling)));
  };
  for (const Scaling& scaling : experiment.scalings) {
    if (experiment.given) {
      expect_finite(scaling, static_cast<double>(size_of(*experiment.given).value_or(1)),
                    static_cast<double>(all_keys(*experiment.given)));
      continue;
    }
    const bool takes_keys = mentions(scaling.logit, "keys") || mentions(scaling.logit, "i");
    for (const std::int64_t d : experiment.d) {
      for (const std::int64_t keys : experiment.keys) {
        expect_finite(scaling, static_cast<double>(d), static_cast<double>(keys));
        if (!takes_keys) break;
      }
      if (!needs_d(scaling.logit)) break;
    }
  }
}

// The draws of least and of most spread at the ends of the sizes.
std::vector<Draw> outermost_draws(const Experiment& experiment) {
  std::vector<Draw> draws;
  for (const std::int64_t d : {std::ranges::min(experiment.d), std::ranges::max(experiment.d)}) {
    for (const std::int64_t keys :
         {std::ranges::min(experiment.keys), std::ranges::max(experiment.keys)}) {
      const auto [least, most] = std::ranges::minmax(
          experiment.entries, {},
          [&](const Entries& entries) { return score_moments(entries, d, keys).sd; });
      draws.push_back({least, d, keys});
      draws.push_back({most, d, keys});
    }
  }
  return draws;
}

// Numbers so near to the ends of what a double can hold would lose digits unseen.
void check_logit_sizes(const JsonValue& value, const Experiment& experiment) {
  constexpr double kLeast = 1e-300;
  constexpr double kMost = 1e300;
  const auto fits = [](double number) { return number >= kLeast && number <= kMost; };
  const std::vector<Draw> draws = outermost_draws(experiment);
  for (const Scaling& scaling : experiment.scalings) {
    for (const Draw& draw : draws) {
      const auto known = capped_logit(scaling.logit, size_of(draw));
      if (!known || known->slope.multiplier == 0) continue;
      const double factor = std::abs(known->slope.at(static_cast<double>(draw.d)));
      const double sd = expected_logit_sd(scaling.logit, draw);
      if (fits(factor) && (fits(sd) || std::isinf(sd))) continue;
      refuse(said_or_whole(value, "scalings"),
             fmt::format("the scaling {} multiplies scores by {} at d = {}, and logits have a "
                         "spread of about {}; both must be from {} to {}, or digits are lost",
                         quote(scaling.name), number_text(factor), draw.d, number_text(sd),
                         number_text(kLeast), number_text(kMost)));
    }
  }
}

// Queries whose logits must all be held at once may not have too many.
void check_held_keys(const JsonValue& value, const Experiment& experiment) {
  const std::int64_t most = std::ranges::max(experiment.keys);
  if (most <= kMostKeysHeld) return;
  for (const Scaling& scaling : experiment.scalings) {
    for (const MetricRow* metric : experiment.metrics) {
      if (!needs_all_logits(*metric, scaling.weights)) continue;
      refuse(said_or_whole(value, "keys"),
             fmt::format("the metric {} under the scaling {} needs all logits of a query at once, "
                         "which allows at most {} keys; found {}",
                         quote(metric->name), quote(scaling.name), kMostKeysHeld, most));
    }
  }
}

void warn_of_one_key(const JsonValue& value, const Experiment& experiment,
                     std::vector<std::string>& warnings) {
  const bool at_one_key = has_one_key_only(experiment) ||
                          std::ranges::find(experiment.keys, 1) != experiment.keys.end();
  std::vector<std::string_view> idle;
  for (const MetricRow* row : experiment.metrics) {
    if (row->needs_two_keys) idle.push_back(row->name);
  }
  if (!at_one_key || idle.empty()) return;
  warn(warnings, said_or_whole(value, "metrics"),
       fmt::format("with one key the weight is always 1, so these metrics mean nothing at keys 1: "
                   "{}; ask for 2 keys or more, or leave them out",
                   join(idle)));
}

struct LargestSize {
  std::int64_t d;
  std::int64_t keys;
};

LargestSize largest_size(const Experiment& experiment) {
  if (experiment.given) {
    return {size_of(*experiment.given).value_or(1), all_keys(*experiment.given)};
  }
  return {std::ranges::max(experiment.d), std::ranges::max(experiment.keys)};
}

}  // namespace

bool has_one_key_only(const Experiment& experiment) {
  if (!experiment.given) return experiment.keys == std::vector<std::int64_t>{1};
  return all_keys(*experiment.given) == 1;
}

bool counts_aligned_keys(const Experiment& experiment) {
  const std::vector<Entries>& entries = experiment.entries;
  return !entries.empty() && std::ranges::all_of(entries, [](const Entries& one) {
    return one.aligned_keys.has_value();
  });
}

// A preset whose number belongs to one head size says how it is off at others.
void warn_of_other_head_sizes(const JsonValue& value, const Experiment& experiment,
                              std::vector<std::string>& warnings) {
  constexpr int kMostSizes = 3;  // that one preset is warned of
  for (const Scaling& scaling : experiment.scalings) {
    const PresetRow* row = find_preset(scaling.preset);
    if (row == nullptr || row->made_for == 0) continue;
    int sizes = 0;
    for (const std::int64_t size : experiment.d) {
      const auto d = static_cast<double>(size);
      const auto logit = capped_logit(scaling.logit, {d});
      if (size == row->made_for || !logit) continue;
      if (++sizes > kMostSizes) {
        warn(warnings, said_or_whole(value, "scalings"),
             fmt::format("{} is made for d = {}; it is off at more of these head sizes",
                         scaling.preset, row->made_for));
        break;
      }
      const double factor = logit->slope.at(d);
      const std::vector<std::string> words = number_words(factor, 1);
      warn(warnings, said_or_whole(value, "scalings"),
           fmt::format("{} is made for d = {}; at d = {} its {} leaves a spread of {:.3g}",
                       scaling.preset, row->made_for, size,
                       words.empty() ? number_text(factor) : words.front(), factor * std::sqrt(d)));
    }
  }
}

void check_experiment(const JsonValue& value, const Experiment& experiment,
                      std::vector<std::string>& warnings) {
  warn_of_one_key(value, experiment, warnings);
  warn_of_other_head_sizes(value, experiment, warnings);
  check_formulas(value, experiment);
  for (const Scaling& scaling : experiment.scalings) check_entries(value, experiment, scaling);
  if (experiment.given) return;
  check_blocks(value, experiment);
  check_sampler(value, experiment);
  for (const Scaling& scaling : experiment.scalings) check_norms(value, experiment, scaling);
  check_logit_sizes(value, experiment);
  check_held_keys(value, experiment);
  check_aligned_keys(value, experiment);
}

std::vector<std::string> idle_scalings(const Config& config) {
  std::vector<std::string> sentences;
  for (const Experiment& experiment : config.experiments) {
    const auto [d, keys] = largest_size(experiment);
    if (keys < 2) continue;  // one logit alone has nothing to differ from, and ln(1) is 0
    for (const Scaling& scaling : experiment.scalings) {
      const FormulaProgram program(
          scaling.logit, {.d = static_cast<double>(d), .keys = static_cast<double>(keys)});
      const auto& linear = program.linear();
      if (!linear || linear->slope.at(static_cast<double>(d)) != 0) continue;
      sentences.push_back(
          fmt::format("{}: under the scaling {} no logit depends on its score: its factor is 0 at "
                      "d={} keys={}",
                      experiment.name, name_with_value(scaling.name, scaling.value), d, keys));
    }
  }
  return sentences;
}

}  // namespace attnscale
