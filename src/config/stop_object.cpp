#include "config/stop_object.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "config/nearest_name.h"
#include "config/object.h"
#include "config/schema.h"
#include "config/values.h"

namespace attnscale {
namespace {

using StopRow = Row<PrecisionTarget, const PrecisionTarget>;

const std::vector<StopRow>& stop_rows() {
  using enum FieldType;
  using enum FieldUse;
  // Each row stays two or three lines.
  // clang-format off
  static const std::vector<StopRow> table = {
      {{"metric", kChoice, kRequired, "",
        "The metric that must be precise, one of the experiment's.", {},
        {"metric", row_names<metric_table>}}, kBothWays<&PrecisionTarget::metric>},
      {{"relative_error", kNumber, kOptional, "",
        "Half the width of its interval must be at most this fraction of the estimate.",
        {0, 1, Ends::kBothExcluded}}, kBothWays<&PrecisionTarget::relative_error>},
      {{"absolute_error", kNumber, kOptional, "",
        "Half the width of its interval must be at most this.",
        {0, kAnyNumber, Ends::kLeastExcluded}}, kBothWays<&PrecisionTarget::absolute_error>},
      {{"confidence", kNumber, kOptional, "0.95", "Confidence of that interval.",
        {0, 1, Ends::kBothExcluded}}, kBothWays<&PrecisionTarget::confidence>},
      {{"scaling", kName, kOptional, "",
        "The scaling under which it must be precise; by default all of the experiment's."},
        kBothWays<&PrecisionTarget::scaling>},
      {{"min_queries", kInteger, kOptional, "",
        "A cell never stops with fewer queries; by default 1000, or all if there are fewer.",
        {2, kMostQueries}}, kBothWays<&PrecisionTarget::min_queries>},
  };
  // clang-format on
  return table;
}

void check_errors(const JsonValue& stop, const PrecisionTarget& target) {
  if (target.relative_error.has_value() != target.absolute_error.has_value()) return;
  refuse(stop, fmt::format(R"(found {} "absolute_error"; expected exactly one of them, such as {})",
                           target.relative_error ? R"(both "relative_error" and)"
                                                 : R"(neither "relative_error" nor)",
                           R"({"metric": "top_weight", "relative_error": 0.001})"));
}

void check_what_is_measured(const JsonValue& stop, const Experiment& experiment) {
  const PrecisionTarget& target = *experiment.stop;
  const auto& metrics = experiment.metrics;
  if (std::ranges::find(metrics, target.metric) == metrics.end()) {
    refuse(*stop.find("metric"),
           fmt::format("{} is not one of the metrics of this experiment; add it to them",
                       quote(target.metric->name)));
  }
  if (!target.scaling) return;
  std::vector<std::string_view> names;
  for (const Scaling& scaling : experiment.scalings) names.push_back(scaling.name);
  if (std::ranges::find(names, *target.scaling) == names.end()) {
    refuse(*stop.find("scaling"),
           unknown_name("scaling of this experiment", *target.scaling, names));
  }
}

}  // namespace

void read_into(const JsonValue& value, const Field&, PrecisionTarget& target) {
  read_object(value, stop_rows(), target);
}

void complete_stop(const JsonValue& value, Experiment& experiment) {
  PrecisionTarget& target = *experiment.stop;
  if (target.min_queries == 0) {
    target.min_queries = std::min<std::int64_t>(1000, experiment.queries);
  }
  const JsonValue& stop = *value.find("stop");
  check_errors(stop, target);
  check_what_is_measured(stop, experiment);
  if (target.min_queries > experiment.queries) {
    refuse(*stop.find("min_queries"),
           fmt::format("found {}; expected at most the number of queries, {}", target.min_queries,
                       experiment.queries));
  }
  if (experiment.samples > target.min_queries) {
    refuse(
        *value.find("samples"),
        fmt::format("found {}; with \"stop\" expected at most its \"min_queries\", {}, because a "
                    "cell may stop there",
                    experiment.samples, target.min_queries));
  }
}

std::string json_text(const Field&, const PrecisionTarget& target) {
  return object_text(member_texts(stop_rows(), target));
}

std::string stop_schema() {
  return object_shape(stop_rows()) +
         R"(, "oneOf": [{"required": ["relative_error"]}, {"required": ["absolute_error"]}])";
}

}  // namespace attnscale
