// What `attnscale list` shows: the names that a config may use, and the runs in a folder.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/screen_table.h"

namespace attnscale {

/// scalings, laws, metrics, precisions, samplers and runs.
std::vector<std::string_view> list_names();

/// The names of the list `what`, one of list_names(), with what each means, or the runs with what
/// each was asked. `word` is the only name to show, or the folder that holds the runs; it may be
/// empty. Throws UserError for a name that is not in the list and a folder that is not there.
std::string list_text(const std::string& what, const std::string& word, TableFormat format,
                      std::size_t width);

}  // namespace attnscale
