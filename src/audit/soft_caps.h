// The soft-cap between q.k and the weights of a layer.
#pragma once

#include <string>
#include <vector>

#include "audit/findings.h"
#include "audit/head_cells.h"

namespace attnscale {

/// The soft-cap of all heads together: 1 / cap^2 as a mean weighted by errors.
struct CapFits {
  std::vector<LineFit> heads;
  double bend = 0;
  double error = 0;
  double residual = 0;
};

/// From the lines; with `is_bent` from steeper ones as well, as a line through bent logits is flat.
CapFits fit_caps(const std::vector<HeadCells>& heads, const std::vector<LineFit>& lines,
                 bool is_bent);

/// The same beside a slope of the distance, from fits of either.
CapFits fit_caps_and_slopes(const std::vector<HeadCells>& heads, const std::vector<LineFit>& fits);

/// Fits them again to more cells and adds the finding: one cap of all heads, or what each has. The
/// fits take the place of the lines.
void take_caps(const std::vector<HeadCells>& heads, const CapFits& found,
               std::vector<LineFit>& lines, TensorAudit& audit);

/// "0.125", or "0.1 to 0.2" of numbers that differ.
std::string range_text(const std::vector<double>& numbers);

}  // namespace attnscale
