// What a reader sees of a run: the report, in the words of the metric table, and the formulas of
// its scalings.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/result_row.h"
#include "report/screen_table.h"

namespace attnscale {

/// Rows of the scaling table that the lesson compares; no other scaling can have their names.
inline constexpr std::array<std::string_view, 3> kLessonScalings{"none", "div_sqrt_d", "div_d"};

/// "EXPERIMENT: SCALING = FORMULA" for every scaling of every experiment.
std::vector<std::string> formula_lines(const Config& config);

/// The same lines from the manifest in `folder`; none if there is no manifest.
std::vector<std::string> formula_lines_of(const std::filesystem::path& folder);

/// The report of one run as text or markdown, for a screen of `width` characters. The formulas
/// follow if there are scalings other than the lesson's three.
std::string report_text(const Results& results, const std::vector<std::string>& formulas,
                        TableFormat format, std::size_t width);

/// Prints the report on stdout, as wide as its terminal. Throws std::system_error if it cannot.
void print_report(const Results& results, const std::vector<std::string>& formulas);

}  // namespace attnscale
