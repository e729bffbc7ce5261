// Prints what a reader sees of a run: the report of io, in the words of the metric table.
#pragma once

#include <string>

#include "app/command_line.h"
#include "experiment/result_row.h"

namespace attnscale {

/// The report of one run as text or markdown, for a screen of `width` characters.
std::string report_text(const Results& results, TableFormat format, std::size_t width);

/// Prints the report on stdout, as wide as its terminal. Throws std::system_error where it cannot.
void print_report(const Results& results);

}  // namespace attnscale
