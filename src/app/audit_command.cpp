#include "app/audit_command.h"

#include <fmt/core.h>

#include <cmath>
#include <string_view>
#include <system_error>

#include "config/user_error.h"
#include "experiment/presets.h"
#include "formula/program.h"
#include "io/matrix_file.h"

namespace attnscale {
namespace {

// The head size, given or as width over heads.
double head_size(const Arguments& arguments, const ModelSizes& sizes) {
  if (const auto given = arguments.whole_number("d", 1, Arguments::kLargestSize)) {
    return static_cast<double>(*given);
  }
  if (!sizes.d_model || !sizes.heads) {
    arguments.refuse(
        "needs --d N, or both --d-model N and --heads N, or the files of --queries, --keys and "
        "--weights");
  }
  const double d = *sizes.d_model / *sizes.heads;
  if (d != std::floor(d)) {
    arguments.refuse(
        fmt::format("--d-model {} is not a multiple of --heads {}; give the head size with --d",
                    *sizes.d_model, *sizes.heads));
  }
  return d;
}

[[noreturn]] void refuse(const std::string& what) {
  throw UserError("attnscale audit: " + what);
}

Matrix open(const std::string& name, const TensorReading& reading, bool& hold_bits) {
  try {
    const Tensor tensor = open_tensor(tensor_name(name));
    hold_bits = hold_bits || tensor.holds_bits;
    return matrix_of(tensor, reading);
  } catch (const MatrixFileError& error) {
    refuse(error.what());
  } catch (const std::system_error& error) {
    refuse(error.what());
  }
}

// True of "(...)^2 q.k ...", as YaRN has it.
bool has_square_multiplier(std::string_view formula) {
  return formula.find(")^2 q.k") != std::string_view::npos;
}

std::string shape(const Matrix& m) {
  return fmt::format("{} heads of {} x {}", m.heads, m.rows, m.columns);
}

}  // namespace

AuditCommand audit_command(const Arguments& arguments) {
  arguments.no_words();
  AuditCommand audit;
  ModelSizes& sizes = audit.sizes;
  const auto size = [&](const std::string& name, std::int64_t least = 1) {
    const auto number = arguments.whole_number(name, least, Arguments::kLargestSize);
    return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
  };
  sizes.d_model = size("d-model");
  sizes.heads = size("heads");
  sizes.key_heads = size("kv-heads");
  sizes.padded_d = size("padded-d");
  sizes.value_d = size("value-d");
  sizes.latent_d = size("latent-d");
  sizes.rope_d = size("rope-d");
  sizes.layers = size("layers");
  sizes.layer = size("layer", 0);
  sizes.tokens = size("tokens");
  sizes.gain = arguments.positive_number("gain", "a number above 0");
  audit.measured_sd =
      arguments.number("measured-sd", "the spread of measured logits, a number from 0 on",
                       [](double number) { return number >= 0; });
  audit.query_sd = arguments.positive_number("query-sd", "a number above 0").value_or(1);
  audit.key_sd = arguments.positive_number("key-sd", "a number above 0").value_or(1);
  audit.multiplier = arguments.positive_number("multiplier", "a number above 0");
  const auto is_any = [](double) { return true; };
  audit.factor = arguments.number("factor", "a number", is_any);
  audit.masked_below = arguments.number("masked-below", "a number", is_any);
  audit.like = arguments.text("like");
  audit.queries = arguments.text("queries");
  audit.keys = arguments.text("keys");
  audit.weights = arguments.text("weights");
  audit.scores = arguments.text("scores");
  audit.causal = arguments.flag("causal");
  audit.json = arguments.choice<bool>("format", {{"table", false}, {"json", true}});
  audit.reading.layout = arguments.choice<MatrixLayout>(
      "layout",
      {{"heads_first", MatrixLayout::kHeadsFirst}, {"rows_first", MatrixLayout::kRowsFirst}});
  audit.reading.from_command = true;
  if (const auto dtype = arguments.text("dtype")) {
    audit.reading.dtype = find_number_format(*dtype);
    if (!audit.reading.dtype) {
      arguments.refuse("dtype", *dtype, "bfloat16, float16, float8_e4m3fn or float8_e5m2");
    }
  }
  if (audit.like && audit.multiplier) arguments.refuse("takes --like or --multiplier, not both");
  if (audit.factor && audit.measured_sd)
    arguments.refuse("takes --factor or --measured-sd, not both");
  const bool has_files = audit.queries || audit.keys || audit.weights || audit.scores;
  if (has_files && !audit.queries) arguments.refuse("needs --queries FILE beside the other files");
  for (const char* const name : {"measured-sd", "query-sd", "key-sd", "factor"}) {
    if (has_files && arguments.text(name)) {
      arguments.refuse(fmt::format("reads that from the files: leave --{} out", name));
    }
  }
  for (const char* const name : {"masked-below", "layout", "dtype"}) {
    if (!has_files && arguments.text(name)) {
      arguments.refuse(
          fmt::format("takes --{} only beside --queries, --keys and --weights or "
                      "--scores",
                      name));
    }
  }
  if (!has_files && audit.causal) {
    arguments.refuse("takes --causal only beside --queries, --keys and --weights or --scores");
  }
  if (audit.masked_below && audit.weights) {
    arguments.refuse("takes --masked-below only beside --scores: a weight of 0 hides its key");
  }
  if (sizes.layer && sizes.layers && *sizes.layer >= *sizes.layers) {
    arguments.refuse(fmt::format("found --layer {} of {} layers; they count from 0", *sizes.layer,
                                 *sizes.layers));
  }
  if (has_files) audit.told_d = size("d");
  if (!has_files) sizes.d = head_size(arguments, sizes);
  return audit;
}

ExpectedLogit expected_logit(const std::string& like, double d, double keys) {
  const Scaling scaling = scaling_like("attnscale audit: --like", like);
  const FormulaSize size{d, keys, keys - 1};
  const auto logit = capped_logit(scaling.logit, size);
  const VectorNorm norm = FormulaProgram(scaling.logit, size).norm();
  if (norm == VectorNorm::kLayer) {
    throw UserError(fmt::format(
        "attnscale audit: --like \"{}\" has a layer norm, which an audit cannot tell; give it "
        "queries and keys after their norm, and --like what is done to them",
        like));
  }
  if (!logit || !std::isfinite(logit->slope.at(d)) || logit->slope.at(d) == 0) {
    throw UserError(fmt::format(
        "attnscale audit: --like \"{}\" has no factor before q.k; expected a multiple of q.k or a "
        "soft-cap of one, such as \"30 tanh(q.k / sqrt(d) / 30)\"",
        like));
  }
  ExpectedLogit expected{like, logit->slope.at(d)};
  if (logit->cap) expected.soft_cap = logit->cap->at(d);
  const Normaliser& normaliser = scaling.weights.normaliser;
  if (normaliser.kind == NormaliserKind::kSink) expected.sink = normaliser.bias;
  expected.has_norm = norm != VectorNorm::kNone;
  if (norm == VectorNorm::kRms) expected.factor *= d;
  const PresetRow* const preset = find_preset(like);
  expected.is_square = has_square_multiplier(preset ? preset->formula : std::string_view(like));
  return expected;
}

std::vector<NamedFactor> preset_factors(double d, double keys) {
  std::vector<NamedFactor> factors;
  const FormulaSize size{d, keys, keys - 1};
  for (const PresetRow& preset : preset_table()) {
    const auto scaling = find_scaling(preset.name);
    if (!scaling || scaling->weights.normaliser.kind != NormaliserKind::kSoftmax) continue;
    const FormulaProgram program(scaling->logit, size);
    if (program.norm() != VectorNorm::kNone || !program.factor()) continue;
    factors.push_back(
        {std::string(preset.name), *program.factor(), has_square_multiplier(preset.formula)});
  }
  return factors;
}

AuditTensors open_audit_tensors(AuditCommand& command) {
  if (!command.keys || command.weights.has_value() == command.scores.has_value()) {
    refuse("needs --queries FILE, --keys FILE, and one of --weights FILE and --scores FILE");
  }
  AuditTensors tensors;
  bool hold_bits = false;
  tensors.queries = open(*command.queries, command.reading, hold_bits);
  tensors.keys = open(*command.keys, command.reading, hold_bits);
  tensors.are_weights = command.weights.has_value();
  TensorReading answers = command.reading;
  answers.layout = MatrixLayout::kHeadsFirst;
  answers.hides_keys = !tensors.are_weights;
  tensors.answers = open(command.weights ? *command.weights : *command.scores, answers, hold_bits);
  if (command.reading.dtype && !hold_bits) {
    refuse(
        "--dtype is for files that hold bits alone; all of these say what they hold: leave it out");
  }
  tensors.causal = command.causal;
  tensors.masked_below = command.masked_below;
  const Matrix& q = tensors.queries;
  const Matrix& k = tensors.keys;
  const Matrix& w = tensors.answers;
  if (q.columns != k.columns) {
    refuse(fmt::format("found queries of {} numbers and keys of {}", q.columns, k.columns));
  }
  if (q.batches() != k.batches() || q.heads_per_batch % k.heads_per_batch != 0) {
    refuse(
        fmt::format("found {} heads of queries and {} of keys, which do not divide them; if "
                    "they are (rows, heads, d), say --layout rows_first",
                    q.heads, k.heads));
  }
  if (w.heads != q.heads || w.rows != q.rows || w.columns != k.rows) {
    refuse(fmt::format("found {} in {}; expected {} heads of {} x {}, one row for each query",
                       shape(w), command.weights ? "--weights" : "--scores", q.heads, q.rows,
                       k.rows));
  }
  ModelSizes& sizes = command.sizes;
  sizes.d = static_cast<double>(q.columns);
  if (command.told_d && *command.told_d != sizes.d) {
    refuse(
        fmt::format("found queries and keys of {} numbers; --d {} is not their head size: leave "
                    "it out",
                    sizes.d, *command.told_d));
  }
  // Of one head alone no mistake with the number of heads can be told.
  if (q.heads_per_batch > 1) {
    if (!sizes.heads) sizes.heads = static_cast<double>(q.heads_per_batch);
    if (!sizes.key_heads) sizes.key_heads = static_cast<double>(k.heads_per_batch);
  }
  if (!sizes.tokens) sizes.tokens = static_cast<double>(k.rows);
  return tensors;
}

}  // namespace attnscale
