#include "config/precision_object.h"

#include <fmt/core.h>

#include <algorithm>

#include "config/object.h"
#include "config/schema.h"
#include "config/values.h"
#include "experiment/precision_sets.h"

namespace attnscale {
namespace {

using StepsRow = Row<PrecisionSteps>;

// Of single numbers; those of whole vectors are the last two.
std::vector<std::string_view> format_names() {
  return {kPrecisionNames.begin(), kPrecisionNames.end() - 2};
}

constexpr FieldChoices kFormats = {"precision", format_names};
constexpr FieldChoices kVectorFormats = {"precision", listed_names<kPrecisionNames>};

// What a step left out is anyway.
template <Precision PrecisionSteps::*step>
std::string write_step(const Field& field, PrecisionSteps& steps) {
  return steps.*step == Precision::kFloat64 ? "" : json_text(field, steps.*step);
}

void read_sum_order(const JsonValue& value, const Field& field, PrecisionSteps& steps) {
  if (value.kind == JsonKind::kObject && value.members.size() == 1 &&
      value.members.front().name == kSumOrderNames.back()) {
    const JsonValue& keys = value.members.front().value;
    steps.sum_order = SumOrder::kTiles;
    steps.tile_keys = static_cast<std::int64_t>(read_number(keys, field));
    expect_integer(keys);
    return;
  }
  const auto name = std::find(kSumOrderNames.begin(), kSumOrderNames.end() - 1, value.text);
  if (value.kind != JsonKind::kString || name == kSumOrderNames.end() - 1) {
    refuse_found(value, R"("sequential", "pairwise", or {"tiles": the keys of a tile}, such as )"
                        R"({"tiles": 128})");
  }
  steps.sum_order = static_cast<SumOrder>(name - kSumOrderNames.begin());
}

std::string write_sum_order(const Field&, PrecisionSteps& steps) {
  const std::string_view name = name_in(kSumOrderNames, steps.sum_order);
  if (steps.sum_order != SumOrder::kTiles) return quote(name);
  return object_text({member_text(name, std::to_string(steps.tile_keys))});
}

std::string sum_order_shape(const Field& field) {
  const std::string_view tiles = kSumOrderNames.back();
  const std::string keys = schema_of(number_shape("integer", field.bounds));
  return any_of(
      {schema_of(names_shape({kSumOrderNames.begin(), kSumOrderNames.end() - 1})),
       schema_of(object_shape({member_text(tiles, keys)}, {tiles}, OtherKeys::kRefused))});
}

const std::vector<StepsRow>& precision_rows() {
  using enum FieldType;
  using enum FieldUse;
  constexpr double kMostTileKeys = 1e9;
  // Each row stays two to four lines.
  // clang-format off
  static const std::vector<StepsRow> table = {
      {{"entries", kChoice, kOptional, R"("float64")",
        "Of queries and keys as they are stored; errors are against float64 of the stored ones.",
        {}, kFormats}, {read_member<&PrecisionSteps::entries>, write_step<&PrecisionSteps::entries>}},
      {{"scaled_queries", kChoice, kOptional, R"("float64")",
        "Of queries times what stands on q inside the product, as in (q / sqrt(d)).k.", {}, kFormats},
        {read_member<&PrecisionSteps::scaled_queries>,
         write_step<&PrecisionSteps::scaled_queries>}},
      {{"quantised", kChoice, kOptional, R"("float64")",
        "Of queries and keys in the product, last of all: also int8 with a scale (largest size / "
        "127) for each of them, int8_row, or one for all keys of a query, int8_tensor.", {},
        kVectorFormats},
        {read_member<&PrecisionSteps::quantised>, write_step<&PrecisionSteps::quantised>}},
      {{"product_sum", kChoice, kOptional, R"("float64")",
        "Of each partial sum of q.k, entry by entry.", {}, kFormats},
        {read_member<&PrecisionSteps::product_sum>, write_step<&PrecisionSteps::product_sum>}},
      {{"product", kChoice, kOptional, R"("float64")",
        "Of the score, with the factors inside q.k.", {}, kFormats},
        {read_member<&PrecisionSteps::product>, write_step<&PrecisionSteps::product>}},
      {{"logit", kChoice, kOptional, R"("float64")",
        "Of each step of the formula and the logit.", {}, kFormats}, {read_member<&PrecisionSteps::logit>, write_step<&PrecisionSteps::logit>}},
      {{"exponential", kChoice, kOptional, R"("float64")",
        "Of e^(logit - the largest), a difference in the wider of both formats; of a sigmoid also "
        "of 1 + e^-logit.", {}, kFormats},
        {read_member<&PrecisionSteps::exponential>, write_step<&PrecisionSteps::exponential>}},
      {{"sum", kChoice, kOptional, R"("float64")",
        "Of each partial sum of exponentials, and of what tiles rescale.", {}, kFormats},
        {read_member<&PrecisionSteps::sum>, write_step<&PrecisionSteps::sum>}},
      {{"weight", kChoice, kOptional, R"("float64")",
        "Of exponential over sum, of 1 - weight and of the slope.", {}, kFormats},
        {read_member<&PrecisionSteps::weight>, write_step<&PrecisionSteps::weight>}},
      {{"output", kChoice, kOptional, R"("float64")",
        "Of the output, a sum in float64 of weights times values.", {}, kFormats},
        {read_member<&PrecisionSteps::output>, write_step<&PrecisionSteps::output>}},
      {{"sum_order", kOwn, kOptional, R"("sequential")",
        "Key by key, neighbours first, or tile by tile of so many keys with the largest logit so "
        "far (online softmax).", {1, kMostTileKeys}},
        {read_sum_order, write_sum_order, sum_order_shape}},
  };
  // clang-format on
  return table;
}

}  // namespace

void read_into(const JsonValue& value, const Field& field, PrecisionSteps& steps) {
  if (value.kind != JsonKind::kObject || value.members.empty()) {
    Field named = field;
    named.choices.also = R"(, or an object of steps, such as {"product": "float16"})";
    const std::string_view name = read_choice(value, named);
    const auto set = std::ranges::find(precision_sets(), name, &PrecisionSet::name);
    steps = set != precision_sets().end()
                ? set->steps
                : PrecisionSteps(static_cast<Precision>(read_choice_place(value, named)));
    return;
  }
  read_object(value, precision_rows(), steps);
  if (!steps.has_exact_weights() || steps.sum_order == SumOrder::kSequential) return;
  refuse(*value.find("sum_order"),
         "\"sum_order\" is for emulated precisions only; name a step that is narrower than "
         "float64, such as \"sum\": \"float16\", or leave it out");
}

std::string json_text(const Field& field, const PrecisionSteps& steps) {
  if (steps.is_exact()) return "";
  if (steps == PrecisionSteps(steps.product)) return json_text(field, steps.product);
  const auto set = std::ranges::find(precision_sets(), steps, &PrecisionSet::steps);
  if (set != precision_sets().end()) return quote(set->name);
  PrecisionSteps written = steps;
  return object_text(member_texts(precision_rows(), written));
}

std::vector<std::string_view> precision_names() {
  std::vector<std::string_view> names = format_names();
  for (const PrecisionSet& set : precision_sets()) names.push_back(set.name);
  return names;
}

std::string precision_shape(const Field& field) {
  return any_of({schema_of(shape_of(field)),
                 schema_of(object_shape(precision_rows()) + R"(, "minProperties": 1)")});
}

}  // namespace attnscale
