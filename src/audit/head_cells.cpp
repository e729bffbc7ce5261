#include "audit/head_cells.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "numerics/portable_math.h"
#include "numerics/precision.h"

namespace attnscale {
namespace {

constexpr std::array kByWidth{Precision::kBfloat16, Precision::kFloat16, Precision::kFloat32};

int digits_of(double number) {
  for (const Precision precision : kByWidth) {
    if (round_to(precision, number) == number) return format_of(precision).digits;
  }
  return format_of(Precision::kFloat64).digits;
}

// Rows evenly apart, the first and the last among them.
std::vector<std::int64_t> chosen_rows(std::int64_t rows, std::int64_t most) {
  std::vector<std::int64_t> chosen;
  const std::int64_t count = std::min(rows, most);
  for (std::int64_t i = 0; i < count; ++i) {
    chosen.push_back(count == 1 ? rows - 1 : i * (rows - 1) / (count - 1));
  }
  return chosen;
}

// q.k of each chosen query and each key, and of a few the sum of squares of the products. Keys are
// turned, so that one loop goes over all of them.
void score(const AuditTensors& tensors, const HeadPlaces& heads, HeadCells& found) {
  ScoreCells& cells = found.cells;
  const auto d = static_cast<std::size_t>(tensors.queries.columns);
  std::vector<double> turned(d * cells.keys);
  std::vector<double> key_norms(cells.keys);
  std::vector<double> row(d);
  for (std::size_t key = 0; key < cells.keys; ++key) {
    tensors.keys.read_row(heads.keys, static_cast<std::int64_t>(key), row);
    for (std::size_t c = 0; c < d; ++c) {
      turned[c * cells.keys + key] = row[c];
      key_norms[key] += row[c] * row[c];
    }
  }
  constexpr std::size_t kFew = 8;
  double squares = 0;
  for (std::size_t r = 0; r < cells.rows; ++r) {
    tensors.queries.read_row(heads.queries, found.queries[r], row);
    double* const scores = cells.scores.data() + r * cells.keys;
    double query_norm = 0;
    for (std::size_t c = 0; c < d; ++c) {
      const double* const keys = turned.data() + c * cells.keys;
      const double q = row[c];
      query_norm += q * q;
      for (std::size_t key = 0; key < cells.keys; ++key) scores[key] += q * keys[key];
      if (r >= kFew) continue;
      for (std::size_t key = 0; key < cells.keys; ++key) squares += q * keys[key] * q * keys[key];
    }
    for (std::size_t key = 0; key < cells.keys; ++key) {
      if (!std::isfinite(scores[key])) {
        throw std::invalid_argument(
            fmt::format("q.k of head {}, query {} and key {} is beyond float64", heads.queries,
                        found.queries[r], key));
      }
      const double norms = std::sqrt(query_norm) * std::sqrt(key_norms[key]);
      cells.cosines[r * cells.keys + key] = norms > 0 ? scores[key] / norms : 0;
    }
  }
  found.roots = std::sqrt(squares / static_cast<double>(std::min(kFew, cells.rows) * cells.keys));
}

// Rows whose weights are all 0, and those that weigh all keys alike where most rows do not.
void leave_padding_out(HeadCells& found) {
  const std::size_t keys = found.cells.keys;
  std::vector<std::size_t> alike;
  std::int64_t others = 0;
  for (std::size_t row = 0; row < found.cells.rows; ++row) {
    if (found.sums[row] == 0) {
      found.is_left_out[row] = 1;
      ++found.empty_rows;
      continue;
    }
    double least = kInfinity, most = 0, shown = 0;
    for (std::size_t i = row * keys; i < (row + 1) * keys; ++i) {
      if (found.is_zero[i] || std::isnan(found.cells.logits[i])) continue;
      least = std::min(least, found.cells.logits[i]);
      most = std::max(most, found.cells.logits[i]);
      ++shown;
    }
    if (shown < 2) continue;
    if (least == most) {
      alike.push_back(row);
    } else {
      ++others;
    }
  }
  if (std::ssize(alike) >= others) return;
  for (const std::size_t row : alike) {
    found.is_left_out[row] = 1;
    ++found.alike_rows;
    std::fill_n(found.cells.logits.begin() + static_cast<std::ptrdiff_t>(row * keys), keys, kNan);
  }
}

// Of answers that are not logarithms yet.
double writing_error(const HeadCells& found, bool are_weights) {
  if (!found.writing) return 0;
  double squares = 0, cells = 0;
  for (const double answer : found.cells.logits) {
    if (std::isnan(answer) || answer == 0) continue;
    const double error = found.writing.error(std::abs(answer));
    const double of_logit = are_weights ? error / answer : error;
    squares += of_logit * of_logit;
    ++cells;
  }
  return std::sqrt(squares / std::max(cells, 1.0));
}

}  // namespace

int digits_of(const Matrix& matrix) {
  std::vector<double> row(static_cast<std::size_t>(matrix.columns));
  int digits = row_of(matrix.format).digits;
  if (digits <= 8) return digits;
  digits = 1;
  for (std::int64_t head = 0; head < matrix.heads; ++head) {
    for (const std::int64_t i : chosen_rows(matrix.rows, 16)) {
      matrix.read_row(head, i, row);
      for (const double number : row) {
        if (std::isfinite(number)) digits = std::max(digits, digits_of(number));
      }
    }
  }
  return digits;
}

HeadCells head_cells(const AuditTensors& tensors, const HeadPlaces& heads, std::int64_t most_rows) {
  const Matrix& answers = tensors.answers;
  HeadCells found;
  found.queries = chosen_rows(answers.rows, most_rows);
  ScoreCells& cells = found.cells;
  cells.rows = found.queries.size();
  cells.keys = static_cast<std::size_t>(answers.columns);
  const std::size_t size = cells.rows * cells.keys;
  cells.scores.assign(size, 0);
  cells.logits.assign(size, kNan);
  cells.distance.resize(size);
  cells.cosines.resize(size);
  found.is_zero.assign(size, 0);
  score(tensors, heads, found);
  const NumberFormatRow& format = row_of(answers.format);
  std::vector<double> row(cells.keys);
  std::vector<double> shown;
  for (std::size_t r = 0; r < cells.rows; ++r) {
    answers.read_row(heads.answers, found.queries[r], row);
    double sum = 0;
    double squares = 0;
    for (std::size_t key = 0; key < cells.keys; ++key) {
      const std::size_t i = r * cells.keys + key;
      cells.distance[i] = static_cast<double>(found.queries[r] + answers.columns - answers.rows) -
                          static_cast<double>(key);
      double answer = row[key];
      if (tensors.are_weights && !(answer >= 0 && answer < 1e4)) {
        throw std::invalid_argument(fmt::format(
            "found the weight {} (head {}, query {}, key {}); weights are not below 0: if these "
            "are scores, give them with --scores",
            answer, heads.answers, found.queries[r], key));
      }
      if (!tensors.are_weights && tensors.masked_below && answer <= *tensors.masked_below) {
        answer = -std::numeric_limits<double>::infinity();
      }
      found.is_zero[i] = tensors.are_weights ? answer == 0 : !std::isfinite(answer);
      if (std::isfinite(answer)) found.lowest = std::min(found.lowest, answer);
      sum += answer;
      squares += answer * answer;
      if (!found.is_zero[i]) {
        const int digits = format.digits <= 8 ? format.digits : digits_of(answer);
        found.digits = std::max(found.digits, digits);
        found.is_half = found.is_half && round_to(Precision::kFloat16, answer) == answer;
        if (answer != 0) shown.push_back(std::abs(answer));
      }
      if (tensors.causal && cells.distance[i] < 0) continue;
      if (!tensors.are_weights) {
        if (std::isfinite(answer)) cells.logits[i] = answer;
      } else {
        cells.logits[i] = answer;
      }
    }
    found.sums.push_back(sum);
    found.sum_errors.push_back(std::sqrt(squares));
  }
  const int least_places = tensors.are_weights ? 1 : 0;
  if (found.digits > 11) {
    found.writing = decimal_writing(shown, std::min(format.digits, 53), least_places);
  }
  found.is_left_out.assign(cells.rows, 0);
  if (!tensors.are_weights) {
    found.writing_error = writing_error(found, false);
    return found;
  }
  leave_padding_out(found);
  // Where numbers have fewer digits, a logarithm says little.
  double least = std::max(format.least_normal, 0x1p-126);
  if (found.is_half && found.digits == 11) least = std::max(least, 0x1p-14);
  constexpr double kFewestSteps = 16;  // of a rounded decimal, whose error is then 3 % at most
  const bool are_alike = shown.empty() || std::ranges::min(shown) == std::ranges::max(shown);
  if (!are_alike) least = std::max(least, kFewestSteps * found.writing.step());
  for (double& weight : cells.logits) weight = weight >= least ? weight : kNan;
  found.writing_error = writing_error(found, true);
  for (double& logit : cells.logits) {
    if (!std::isnan(logit)) logit = plain::log(logit);
  }
  return found;
}

}  // namespace attnscale
