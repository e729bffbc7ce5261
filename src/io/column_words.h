// What the columns of a run's files hold, in words, for its data package. Knows no types: those are
// the columns' own.
#pragma once

#include <string>
#include <string_view>

namespace attnscale {

struct ColumnWords {
  std::string title;  ///< a few words, for an axis
  std::string unit;   ///< empty for texts, "1" for plain numbers
  std::string description;
};

/// The words of a column of `file`, such as "summary.csv"; those of its metric and what is said of
/// it for METRIC, METRIC_se, METRIC_reference and METRIC_median. Empty words for an unknown column,
/// which a test refuses.
ColumnWords column_words(std::string_view file, std::string_view column);

}  // namespace attnscale
