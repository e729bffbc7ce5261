// The canonical text of a formula, which reads back as the same tree.
#pragma once

#include <string>

#include "formula/formula.h"

namespace attnscale {

/// Such as "50 tanh(q.k / sqrt(144) / 50)": one blank for a multiplication, " * " where that could
/// be misread, brackets only where needed, numbers as numerics/shortest.h writes them.
std::string print_formula(const Formula& formula);

}  // namespace attnscale
