#include "config/nearest_name.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace attnscale {
namespace {

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// The shortest name that begins with `start`, if all others that do begin with it too.
std::optional<std::string_view> abbreviated_name(std::string_view start,
                                                 std::span<const std::string_view> names) {
  constexpr std::size_t kShortest = 3;  // fewer letters say too little
  if (start.size() < kShortest) return std::nullopt;
  std::optional<std::string_view> shortest;
  for (const std::string_view name : names) {
    if (!name.starts_with(start)) continue;
    if (!shortest || shortest->starts_with(name)) {
      shortest = name;
    } else if (!name.starts_with(*shortest)) {
      return std::nullopt;
    }
  }
  return shortest;
}

// The name of fewest parts that has `part` between its ends and underscores, the first of equals.
std::optional<std::string_view> name_with_part(std::string_view part,
                                               std::span<const std::string_view> names) {
  const auto parts = [](std::string_view name) { return std::ranges::count(name, '_'); };
  std::optional<std::string_view> shortest;
  const std::string wanted = fmt::format("_{}_", part);
  for (const std::string_view name : names) {
    if (fmt::format("_{}_", name).find(wanted) == std::string::npos) continue;
    if (!shortest || parts(name) < parts(*shortest)) shortest = name;
  }
  return shortest;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the usual table: two[j], one[j], row[j] end at i - 2, i - 1 and i letters of a.
  std::vector<std::size_t> two(b.size() + 1);
  std::vector<std::size_t> one(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) one[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({one[j] + 1, row[j - 1] + 1, one[j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], two[j - 2] + 1);
      }
    }
    std::swap(two, one);
    std::swap(one, row);
  }
  return one[b.size()];
}

std::optional<std::string_view> nearest_name(std::string_view wrong,
                                             std::span<const std::string_view> names) {
  constexpr std::size_t kLongest = 100;  // nobody misspells a name into a page
  if (wrong.empty() || wrong.size() > kLongest) return std::nullopt;
  // A long beginning of one name alone is that name, even if another is a letter away.
  constexpr std::size_t kLongBeginning = 5;
  const auto abbreviated = abbreviated_name(wrong, names);
  if (abbreviated && wrong.size() >= kLongBeginning) return abbreviated;
  if (const auto whole = name_with_part(wrong, names)) return whole;
  const std::size_t allowed = std::max<std::size_t>(1, wrong.size() / 3);
  std::optional<std::string_view> nearest;
  std::size_t least = std::min(allowed + 1, wrong.size());
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(wrong, name);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest ? nearest : abbreviated;
}

std::string unknown_name(std::string_view what, std::string_view wrong,
                         std::span<const std::string_view> names) {
  const auto nearest = nearest_name(wrong, names);
  const std::string hint = nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : ".";
  return fmt::format("unknown {} \"{}\"{} Allowed: {}", what, shortened(wrong), hint, join(names));
}

}  // namespace attnscale
