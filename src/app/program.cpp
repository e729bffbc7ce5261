#include "app/program.h"

#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "app/command_line.h"
#include "app/process.h"
#include "config/user_error.h"
#include "io/folder_lock.h"

namespace attnscale {
namespace {

// What to do about a file that cannot be used.
std::string_view way_out(const std::error_code& error) {
  if (error == std::errc::is_a_directory) return "; a file belongs there: move that folder away";
  if (error == std::errc::not_a_directory) return "; a part of that path is a file: name another";
  if (error == std::errc::permission_denied || error == std::errc::operation_not_permitted) {
    return "; give yourself the right to, or name another place";
  }
  if (error == std::errc::read_only_file_system) return "; name a place that can be written to";
  if (error == std::errc::no_space_on_device) return "; make room, then repeat the command";
  return "";
}

// Files of given numbers are mapped into memory: if one is cut off, reading past its new end raises
// SIGBUS, where no exception can be thrown. The folder is left unfinished, as after a kill.
extern "C" void report_cut_file(int) {
  constexpr std::string_view kSentence =
      "attnscale: a file of given numbers was cut off, or could not be read, while it was "
      "measured; nothing was written: run again when nobody writes to it\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kSentence.data(), kSentence.size());
  ::_exit(static_cast<int>(ExitCode::kFailed));
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, Executor& executor) {
  occupy_standard_files();
  // A file larger than `ulimit -f` is an error with a message, like a full disk, not a death.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGBUS, report_cut_file);
  ExitCode code = ExitCode::kFailed;
  try {
    code = run_command(arguments, executor);
  } catch (const UserError& error) {
    say(error.what());
    code = error.code();
  } catch (const FolderInUse& error) {
    say(std::string("attnscale: ") + error.what());
    code = ExitCode::kWrongInput;
  } catch (const std::bad_alloc&) {
    say("attnscale: not enough memory");
  } catch (const std::filesystem::filesystem_error& error) {
    say(fmt::format("attnscale: {}: {}{}", error.path1().string(), error.code().message(),
                    way_out(error.code())));
  } catch (const std::system_error& error) {
    say(fmt::format("attnscale: {}{}", error.what(), way_out(error.code())));
  } catch (const std::exception& error) {
    say(std::string("attnscale: ") + error.what());
  }
  return static_cast<int>(code);
}

}  // namespace attnscale
