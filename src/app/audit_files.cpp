#include "app/audit_files.h"

#include <fmt/core.h>

#include <system_error>

#include "config/user_error.h"
#include "io/matrix_file.h"
#include "io/matrix_file_error.h"

namespace attnscale {
namespace {

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

std::string shape(const Matrix& m) {
  return fmt::format("{} heads of {} x {}", m.heads, m.rows, m.columns);
}

}  // namespace

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
  // Of one head alone no mistake with the number of heads can be told.
  if (q.heads_per_batch > 1) {
    if (!sizes.heads) sizes.heads = static_cast<double>(q.heads_per_batch);
    if (!sizes.key_heads) sizes.key_heads = static_cast<double>(k.heads_per_batch);
  }
  if (!sizes.tokens) sizes.tokens = static_cast<double>(k.rows);
  return tensors;
}

}  // namespace attnscale
