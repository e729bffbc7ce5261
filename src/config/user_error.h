// The one error a user can cause and mend. Thrown at the edge, printed once in main.
#pragma once

#include <stdexcept>
#include <string>

namespace attnscale {

/// Exit codes of the program.
enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kWrongInput = 2,
  kTargetNotReached = 3,
  kInterrupted = 4,
  kMismatch = 5,
};

/// An error with a message for the person at the keyboard, complete in itself: where, what was
/// found, what is allowed, what to write instead.
class UserError : public std::runtime_error {
 public:
  explicit UserError(const std::string& message, ExitCode code = ExitCode::kWrongInput)
      : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace attnscale
