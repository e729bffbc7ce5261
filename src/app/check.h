// Somebody's printed numbers against exact values: what `attnscale check` is asked and answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/arguments.h"
#include "config/user_error.h"
#include "experiment/metric.h"
#include "experiment/scaling.h"
#include "report/screen_table.h"

namespace attnscale {

/// A mean over queries, or a statistic of their logits, as it was printed.
struct PrintedNumber {
  const MetricRow* metric;
  double value;
  double rounding;  ///< half a unit of its last digit: 0.0005 of 0.755
};

struct CheckCommand {
  std::int64_t d = 1;
  std::int64_t keys = 1;
  std::int64_t queries = 1;  ///< that the numbers are from, each with keys of its own
  Scaling scaling;
  double saturated_above = 0;
  std::vector<PrintedNumber> printed;
  TableFormat format = TableFormat::kTable;
};

/// The options of the command: sizes, and one for each metric that has an exact value.
std::span<const OptionRow> check_options();

/// Throws UserError.
CheckCommand check_command(const Arguments& arguments);

struct CheckAnswer {
  std::string text;
  ExitCode code;  ///< kMismatch if a number is further off than it may be
};

/// The answer for the screen, `width` characters wide, or for programs. Standard errors are those
/// of that many independent queries, from theory's spread of fractions and else from that of drawn
/// queries. Throws UserError for a number without an exact value.
CheckAnswer check_numbers(const CheckCommand& command, std::size_t width);

}  // namespace attnscale
