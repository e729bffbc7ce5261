// How skewed the powers of scores are whose means make a spread or a kurtosis: from theory, as a
// sample that saw none of the rare large scores cannot tell. Knows nothing of what is estimated.
#pragma once

#include <cstdint>

#include "draw/entries.h"

namespace attnscale {

/// G^2, the squared skewness, of what one number adds to an estimate; infinity if the moments do
/// not exist, 0 if nothing varies.
struct PowerSkewness {
  double of_spread;
  double of_kurtosis;
};

/// Of one score: of s^2 to the spread, and of s^4 - kappa - 4 g s - 2 kappa (s^2 - 1) to the
/// kurtosis kappa, with s the standardised score and g its skewness (the influence functions of
/// both). By the cumulants of one product of entries, of which a score has d. If only some keys are
/// aligned, of the scores of all keys together.
PowerSkewness score_skewness(const Entries& entries, std::int64_t d, std::int64_t keys);

/// Of one query with any number of keys, as far as scores are normal with spread |q| given q: of
/// a = |q|^2 / d to the spread, and of 3 a^2 - 2 kappa a to the kurtosis. Of centred entries.
PowerSkewness query_skewness(const Entries& entries, std::int64_t d, std::int64_t keys);

/// Of a normal score, to which those of many entries go.
PowerSkewness normal_score_skewness();

}  // namespace attnscale
