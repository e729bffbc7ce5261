#include "app/process.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>
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

void write_stderr(const std::string& text) {
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

void say(const std::string& sentence) {
  constexpr std::string_view kNextLine = "\n  ";
  std::string shown;
  std::string_view rest = sentence;
  for (auto end = rest.find(kNextLine); end != rest.npos; end = rest.find(kNextLine)) {
    shown.append(in_one_line(rest.substr(0, end))).append(kNextLine);
    rest.remove_prefix(end + kNextLine.size());
  }
  write_stderr(shown.append(in_one_line(rest)).append("\n"));
}

std::filesystem::path shipped_file(const std::string& name) {
  std::error_code unreadable;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", unreadable).parent_path();
  for (const char* place : {"../share/attnscale", ".."}) {
    const std::filesystem::path file = (program / place / name).lexically_normal();
    if (std::filesystem::exists(file, unreadable)) return file;
  }
  return {};
}

void become_script(const std::string& name, const std::vector<std::string>& arguments) {
  const std::string script = shipped_file("scripts/" + name).string();
  if (script.empty()) {
    throw UserError("attnscale: scripts/" + name +
                    " is not where this program is; it comes with the source and the package");
  }
  std::error_code unreadable;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", unreadable);
  ::setenv("ATTNSCALE_PROGRAM", program.c_str(), 1);
  std::vector<std::string> words{script};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(script.c_str(), pointers.data());
  throw std::system_error(errno, std::generic_category(), "cannot run " + script);
}

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace attnscale
