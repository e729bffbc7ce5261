#include "report/lesson_answers.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/json_text.h"
#include "report/number_text.h"
#include "report/result_grid.h"

namespace attnscale {
namespace {

constexpr const char* kUnscaled = "none";
constexpr const char* kDividedBySqrtD = "div_sqrt_d";
constexpr const char* kDividedByD = "div_d";
constexpr double kNearlyAll = 0.9;
constexpr std::size_t kMostGrids = 3;
constexpr std::size_t kMostSizes = 8;

// What answers to the questions 1, 2, ... are made of.
constexpr const char* kNeeds[] = {
    "logit_sd under none",
    "top_weight under none, several d, 2 or more keys",
    "the median slope under none or div_sqrt_d, 2 or more keys",
    "top_weight under div_d, 2 or more keys",
};

// Rows of one metric and scaling that have an estimate and a d, by increasing d.
std::vector<const ResultRow*> rows_of(const ResultGrid& grid, const char* metric,
                                      const char* scaling) {
  std::vector<const ResultRow*> rows;
  for (const ResultRow* row : grid.rows) {
    const ResultKey& key = row->key;
    if (row->metric == metric && key.scaling == scaling && !key.scaling_value && key.d &&
        !key.entries.empty() && row->estimate) {
      rows.push_back(row);
    }
  }
  std::ranges::sort(rows, {}, [](const ResultRow* row) { return *row->key.d; });
  return rows;
}

std::string spread_text(double number) {
  return number >= 0.1 && number < 1000 ? with_places(number, 2) : rounded(number, 3);
}

// An exact value leads, where there is one.
std::string with_measured(const std::string& exact, const std::string& measured) {
  return exact + " (exact; measured " + measured + ")";
}

std::string size_text(const ResultRow& row) {
  return "d = " + std::to_string(*row.key.d);
}

// The texts of a few numbers one after the other, of many the first and the last.
std::string series(const std::vector<std::string>& texts) {
  if (texts.size() > kMostSizes) return texts.front() + " to " + texts.back();
  return join(texts, " ");
}

std::string answer_spread(const ResultGrid& grid) {
  const std::vector<const ResultRow*> raw = rows_of(grid, "logit_sd", kUnscaled);
  if (raw.empty()) return "";
  std::vector<std::string> measured, expected;
  bool unit_spread = true;
  for (const ResultRow* row : raw) {
    const double root = std::sqrt(static_cast<double>(*row->key.d));
    const double exact = row->reference.value_or(root);
    unit_spread = unit_spread && std::abs(exact - root) <= 1e-9 * root;
    measured.push_back(spread_text(*row->estimate));
    expected.push_back(rounded_short(exact, 4));
  }
  const bool is_known =
      std::ranges::all_of(raw, [](const ResultRow* row) { return row->reference.has_value(); });
  std::string text = "raw spread ";
  if (is_known) {
    text += (unit_spread ? "sqrt(d) = " : "") + with_measured(series(expected), series(measured));
  } else {
    text += series(measured) + " against sqrt(d) " + series(expected);
  }
  if (raw.size() == 1) {
    text += " at " + size_text(*raw.front());
  } else if (raw.size() > kMostSizes) {
    text += " from " + size_text(*raw.front()) + " to " + size_text(*raw.back());
  }
  const std::vector<const ResultRow*> scaled = rows_of(grid, "logit_sd", kDividedBySqrtD);
  if (scaled.empty()) return text;
  const auto [least, most] = std::ranges::minmax_element(scaled, {}, &ResultRow::estimate);
  const std::string from = with_places(*(*least)->estimate, 3);
  const std::string to = with_places(*(*most)->estimate, 3);
  const std::string range = from + (from == to ? "" : " to " + to);
  const auto is_one = [](const ResultRow* row) {
    return row->reference && std::abs(*row->reference - 1) < 1e-9;
  };
  return text + "; after the division " +
         (std::ranges::all_of(scaled, is_one) ? with_measured("1", range) : range);
}

std::string measured_crossing(const CrossingRow& crossing,
                              const std::vector<const ResultRow*>& rows) {
  if (crossing.d) {
    const int digits = *crossing.d < 10 ? 2 : static_cast<int>(std::log10(*crossing.d)) + 1;
    return "from d = " + rounded_short(*crossing.d, digits);
  }
  if (rows.empty()) return "";
  if (crossing.status == CrossingStatus::kBelow) return "from below " + size_text(*rows.front());
  if (crossing.status == CrossingStatus::kNotReached)
    return "not reached by " + size_text(*rows.back());
  return "";
}

std::string crossing_text(const CrossingRow& crossing, const std::vector<const ResultRow*>& rows) {
  const std::string text = measured_crossing(crossing, rows);
  if (text.empty() || !crossing.d_exact) return text;
  return with_measured("from d = " + rounded_short(*crossing.d_exact, 4), text);
}

// The same but for d.
bool about_the_same(const CrossingRow& crossing, ResultKey key) {
  key.d = crossing.key.d;
  return key == crossing.key;
}

std::string answer_crossing(const ResultGrid& grid, std::span<const CrossingRow> crossings) {
  const std::vector<const ResultRow*> rows = rows_of(grid, "top_weight", kUnscaled);
  if (rows.empty() || rows.back()->key.keys < 2) return "";
  std::string text;
  for (const auto& [statistic, words] :
       {std::pair("mean", "on average "), std::pair("median", "for half the queries ")}) {
    for (const CrossingRow& crossing : crossings) {
      if (crossing.metric != "top_weight" || crossing.statistic != statistic ||
          crossing.level != kNearlyAll || !about_the_same(crossing, rows.front()->key)) {
        continue;
      }
      const std::string where = crossing_text(crossing, rows);
      if (where.empty()) continue;
      text += (text.empty() ? "" : ", ") + (words + where);
    }
  }
  return text.empty() ? "" : "unscaled, one key gets more than 0.9 of the weight: " + text;
}

std::string answer_slope(const ResultGrid& grid) {
  std::string size;
  std::string text;
  for (const auto& [scaling, words] :
       {std::pair(kUnscaled, " unscaled"), std::pair(kDividedBySqrtD, " divided by sqrt(d)")}) {
    const std::vector<const ResultRow*> rows = rows_of(grid, "slope", scaling);
    if (rows.empty() || rows.back()->key.keys < 2 || !rows.back()->median) continue;
    size = size_text(*rows.back());
    text += (text.empty() ? "" : ", ") + slope_text(*rows.back()->median) + words;
  }
  return text.empty() ? "" : "p(1-p) of a typical query at " + size + ": " + text;
}

std::string answer_too_much(const ResultGrid& grid) {
  const std::vector<const ResultRow*> rows = rows_of(grid, "top_weight", kDividedByD);
  if (rows.empty() || rows.back()->key.keys < 2) return "";
  const ResultRow& row = *rows.back();
  const std::string measured = rounded(*row.estimate, 3);
  return "divided by d at " + size_text(row) + ": top weight " +
         (row.reference ? with_measured(rounded_short(*row.reference, 4), measured) : measured) +
         "; equal weights would be 1/" + std::to_string(row.key.keys) + " = " +
         rounded_short(1 / static_cast<double>(row.key.keys), 3);
}

// Whether the question has an answer.
template <typename Answer>
bool append_answers(std::vector<std::string>& lines, std::size_t question,
                    const std::vector<ResultGrid>& grids, const Answer& answer) {
  std::vector<std::pair<std::string, const ResultGrid*>> answers;
  for (const ResultGrid& grid : grids) {
    std::string text = answer(grid);
    if (!text.empty()) answers.emplace_back(std::move(text), &grid);
  }
  const std::size_t shown = std::min(answers.size(), kMostGrids);
  for (std::size_t i = 0; i < shown; ++i) {
    std::string line = std::to_string(question) + " ";
    if (answers.size() > 1) line.append("[").append(caption_of(*answers[i].second)).append("] ");
    lines.push_back(line + answers[i].first);
  }
  if (answers.size() > shown) {
    lines.push_back(std::to_string(question) + " ... and " +
                    std::to_string(answers.size() - shown) + " more; see summary.csv");
  }
  return shown > 0;
}

// Says why questions are left out, if others are answered.
void append_needs(std::vector<std::string>& lines, const std::vector<bool>& answered) {
  if (lines.empty()) return;
  std::string text;
  for (std::size_t i = 0; i < answered.size(); ++i) {
    if (answered[i]) continue;
    text += fmt::format("{}{} needs {}", text.empty() ? "" : "; ", i + 1, kNeeds[i]);
  }
  if (!text.empty()) lines.push_back("not answered: " + text);
}

}  // namespace

std::vector<std::string> lesson_answers(std::span<const ResultRow> rows,
                                        std::span<const CrossingRow> crossings) {
  std::vector<ResultGrid> grids = grids_of(rows);
  std::erase_if(grids, [](const ResultGrid& grid) {
    return grid.axis != GridAxis::kD && grid.axis != GridAxis::kNothing;
  });
  std::vector<std::string> lines;
  const auto crossing = [&](const ResultGrid& grid) { return answer_crossing(grid, crossings); };
  append_needs(lines, {append_answers(lines, 1, grids, answer_spread),
                       append_answers(lines, 2, grids, crossing),
                       append_answers(lines, 3, grids, answer_slope),
                       append_answers(lines, 4, grids, answer_too_much)});
  return lines;
}

}  // namespace attnscale
