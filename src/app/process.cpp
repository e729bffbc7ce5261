#include "app/process.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <thread>

#include "io/printable.h"

namespace attnscale {

void occupy_standard_files() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) != -1 || errno != EBADF) continue;
    // open(2) takes the lowest free number, which is this one; its mode makes every use an error.
    [[maybe_unused]] const int file =
        ::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void write_stdout(const std::string& text) {
  const std::string shown = printable(text);
  const std::size_t written = std::fwrite(shown.data(), 1, shown.size(), stdout);
  if (written < shown.size() || std::fflush(stdout) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
  }
}

void say(const std::string& sentence) {
  const std::string shown = printable(sentence) + "\n";
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

std::filesystem::path shipped_configs() {
  std::error_code unreadable;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", unreadable).parent_path();
  for (const char* place : {"../share/attnscale/configs", "../configs"}) {
    const std::filesystem::path folder = (program / place).lexically_normal();
    if (std::filesystem::exists(folder / "schema.json", unreadable)) return folder;
  }
  return {};
}

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace attnscale
