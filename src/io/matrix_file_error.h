// The error for files that do not hold a matrix.
#pragma once

#include <stdexcept>
#include <string>

namespace attnscale {

/// What is wrong with a file, in one sentence: its name, where (byte, line, or head, row and
/// column), what was found, what to write instead.
class MatrixFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws "NAME: WHAT".
[[noreturn]] inline void refuse_file(const std::string& name, const std::string& what) {
  throw MatrixFileError(name + ": " + what);
}

}  // namespace attnscale
