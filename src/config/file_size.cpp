#include "config/file_size.h"

#include <fmt/core.h>

#include "config/values.h"

namespace attnscale {

void check_file_size(const JsonValue& value, std::string_view file, double lines, double numbers) {
  constexpr double kBytesOfKey = 80;     // the columns that name a line
  constexpr double kBytesOfNumber = 20;  // one number and its comma
  constexpr double kMostLines = 1e7;
  constexpr double kMostBytes = 1024.0 * 1024 * 1024;
  const double bytes = lines * (kBytesOfKey + kBytesOfNumber * numbers);
  if (lines <= kMostLines && bytes <= kMostBytes) return;
  refuse(value, fmt::format("{} would get {} lines, about {} bytes; allowed are {} lines and {} "
                            "bytes",
                            file, number_text(lines), number_text(bytes), number_text(kMostLines),
                            number_text(kMostBytes)));
}

}  // namespace attnscale
