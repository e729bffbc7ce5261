#include "config/given_in_experiment.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "config/experiment_checks.h"
#include "config/values.h"
#include "estimate/given_baseline.h"
#include "experiment/given_scores.h"

namespace attnscale {
namespace {

void expect_d(const JsonValue& value, const Experiment& experiment) {
  const Given& given = *experiment.given;
  if (given.scores.empty() || given.d) return;
  for (const Scaling& scaling : experiment.scalings) {
    if (!needs_d(scaling.logit)) continue;
    refuse(said_or_whole(value, "scalings"),
           fmt::format("the scaling {} needs to know d; write \"d\" inside \"given\", such as {}, "
                       "or \"scalings\": [\"none\"]",
                       quote(scaling.name), R"({"scores": ..., "d": 16})"));
  }
}

void check_norms(const JsonValue& value, const Experiment& experiment) {
  const Given& given = *experiment.given;
  for (const Scaling& scaling : experiment.scalings) {
    const std::int64_t d = size_of(given).value_or(1);
    const WiderVectors wider = vectors_of(scaling, d);
    const auto refuse_it = [&](std::string_view why) {
      refuse(said_or_whole(value, "scalings"),
             fmt::format("the scaling {} {}", quote(scaling.name), why));
    };
    if (wider.query != d || wider.key != d) {
      refuse_it("takes norms of more than the given heads; write rms(q).rms(k)");
    }
    if (given.baseline.normal && norms_for(scaling) == NormRequest::kSums &&
        !baseline_sampler().draws_entries) {
      refuse_it(
          "takes means of entries, which a baseline of normal entries lacks; write \"baseline\": "
          "\"matched\"");
    }
    if (given.scores.empty() || !has_norm(scaling.logit)) continue;
    refuse_it(
        "normalises queries and keys, which scores alone do not show; write \"queries\" and "
        "\"keys\" inside \"given\" instead of \"scores\"");
  }
}

void check_baseline(const JsonValue& given_value, const Experiment& experiment) {
  const Given& given = *experiment.given;
  if (!given.baseline.any()) return;
  const JsonValue& baseline = *given_value.find("baseline");
  if (experiment.metrics.empty()) {
    refuse(baseline,
           "without metrics there is nothing to compare; write \"metrics\" beside "
           "\"given\", such as [\"logit_sd\", \"top_weight\"]");
  }
  if (!given.baseline.normal) return;
  const auto d = size_of(given);
  if (!d) {
    refuse(baseline,
           "a baseline needs to know d; write \"d\" beside the scores, such as "
           "{\"scores\": ..., \"d\": 64, \"baseline\": true}");
  }
  const SamplerRow& sampler = baseline_sampler();
  if (*d > sampler.max_d || all_keys(given) > sampler.max_keys) {
    refuse(baseline, fmt::format("found {} keys of {} numbers; random ones are drawn for at most "
                                 "{} keys of {}",
                                 all_keys(given), *d, sampler.max_keys, sampler.max_d));
  }
}

void check_size_of_weights(const JsonValue& given_value, const Experiment& experiment) {
  const Given& given = *experiment.given;
  if (!given.weights) return;
  double visible = 0;
  for (std::int64_t query = 0; query < query_count(given); ++query) {
    visible += static_cast<double>(keys_by_place(given, query).count());
  }
  const double vectors =
      static_cast<double>(head_count(given)) * static_cast<double>(experiment.scalings.size());
  const JsonValue& said = said_or_whole(given_value, "weights");
  check_file_size(said, "weights.csv", vectors * visible, 4);
  if (given.values.empty()) return;
  const double lines = vectors * static_cast<double>(query_count(given)) *
                       static_cast<double>(given.values.most_columns());
  check_file_size(said, "outputs.csv", lines, 1);
}

void check_size_of_parts(const JsonValue& value, const Experiment& experiment) {
  double lines = static_cast<double>(experiment.scalings.size());
  for (const GivenPart part : {GivenPart::kHead, GivenPart::kQuery}) {
    const bool of_heads = part == GivenPart::kHead;
    lines *= static_cast<double>(of_heads ? head_count(*experiment.given)
                                          : query_count(*experiment.given));
    if (!is_split_by(experiment, part)) continue;
    check_file_size(*value.find("by"), of_heads ? "heads.csv" : "queries.csv", lines, 6);
  }
}

void warn_of_idle_numbers(const JsonValue& given_value, const Experiment& experiment,
                          std::vector<std::string>& warnings) {
  const Given& given = *experiment.given;
  if (given.weights) return;
  if (experiment.metrics.empty() && experiment.by.empty()) {
    warnings.push_back(
        warning_at(given_value,
                   "nothing is written about these numbers; write \"metrics\" beside "
                   "\"given\", or write \"weights\": true inside it"));
  } else if (!given.values.empty()) {
    warnings.push_back(warning_at(given_value,
                                  "the values are checked, but outputs are only written with "
                                  "\"weights\": true"));
  }
}

// "80 to 127", or "3, 7, 9 and 4 more".
std::string columns_text(const std::vector<std::int64_t>& columns) {
  constexpr std::size_t kShown = 4;
  if (columns.size() > 1 && columns.back() - columns.front() == std::ssize(columns) - 1) {
    return fmt::format("{} to {}", columns.front(), columns.back());
  }
  std::string text = std::to_string(columns.front());
  for (std::size_t i = 1; i < std::min(columns.size(), kShown); ++i) {
    text += fmt::format(", {}", columns[i]);
  }
  return columns.size() > kShown ? text + fmt::format(" and {} more", columns.size() - kShown)
                                 : text;
}

// Heads that a kernel padded have columns of zeros, which belong to no head size.
void warn_of_padding(const JsonValue& given_value, const Given& given,
                     std::vector<std::string>& warnings) {
  if (given.queries.empty()) return;
  std::vector<std::int64_t> zero;  // columns, so far
  for (std::int64_t i = 0; i < given.queries.columns(0); ++i) zero.push_back(i);
  std::vector<double> row;
  for (const GivenMatrix* matrix : {&given.queries, &given.keys}) {
    for (std::int64_t head = 0; head < matrix->heads(); ++head) {
      for (std::int64_t i = 0; i < matrix->row_count() && !zero.empty(); ++i) {
        matrix->read_row(head, i, row);
        std::erase_if(
            zero, [&](std::int64_t column) { return row[static_cast<std::size_t>(column)] != 0; });
      }
    }
  }
  if (zero.empty()) return;
  warnings.push_back(warning_at(
      given_value,
      fmt::format("column{} {} (counted from 0) {} 0 in all queries and keys: if heads are padded, "
                  "d is {}, not {}; cut the padding off",
                  zero.size() > 1 ? "s" : "", columns_text(zero), zero.size() > 1 ? "are" : "is",
                  given.queries.columns(0) - std::ssize(zero), given.queries.columns(0))));
}

// Finite numbers far below all others, which models add where -inf is meant.
void warn_of_low_numbers(const JsonValue& given_value, const Given& given,
                         std::vector<std::string>& warnings) {
  constexpr double kFarBelow = 20;  // times the largest of the others
  if (given.masked_below) return;
  for (const auto& [key, member] : {std::pair("scores", &Given::scores), {"bias", &Given::bias}}) {
    double least = 0;
    double most = 0;  // magnitude of the others
    std::int64_t count = 0;
    (given.*member).for_each_number([&](double number) {
      if (number > kMaskedBelow) {
        most = std::max(most, std::abs(number));
      } else if (std::isfinite(number)) {
        least = std::min(least, number);
        ++count;
      }
    });
    if (count == 0 || -least <= kFarBelow * most) continue;
    warnings.push_back(warning_at(
        *given_value.find(key),
        fmt::format(
            "{} of these numbers are {} or less, the least {:.4g}, and no other is beyond {:.4g}: "
            "if they hide keys, write \"masked_below\": {} inside \"given\"",
            count, number_text(kMaskedBelow), least, most, number_text(kMaskedBelow))));
  }
}

void warn_of_idle_masks(const JsonValue& given_value, const Experiment& experiment,
                        std::vector<std::string>& warnings) {
  const Given& given = *experiment.given;
  bool hides = given.mask.empty();
  given.mask.for_each_number(
      [&](double number) { hides = hides || number != (given.mask_adds ? 0 : 1); });
  if (!hides) {
    warnings.push_back(warning_at(
        *given_value.find("mask"),
        fmt::format("the mask hides nothing: all of it is {}", given.mask_adds ? 0 : 1)));
  }
  if (given.baseline.normal && !given.bias.empty()) {
    warnings.push_back(warning_at(*given_value.find("baseline"),
                                  "normal random queries and keys are measured without the bias"));
  }
}

}  // namespace

void check_given(const JsonValue& value, const Experiment& experiment,
                 std::vector<std::string>& warnings) {
  const JsonValue& given_value = *value.find("given");
  expect_d(value, experiment);
  check_norms(value, experiment);
  check_baseline(given_value, experiment);
  check_size_of_weights(given_value, experiment);
  check_size_of_parts(value, experiment);
  warn_of_idle_numbers(given_value, experiment, warnings);
  warn_of_padding(given_value, *experiment.given, warnings);
  warn_of_low_numbers(given_value, *experiment.given, warnings);
  warn_of_idle_masks(given_value, experiment, warnings);
}

}  // namespace attnscale
