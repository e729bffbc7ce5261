// A library to put before libc (LD_PRELOAD): the program that runs with it is killed, or told of an
// error, at one of its calls that change files. It counts the calls below one folder alone, and is
// told what to do by the environment:
//
//   FAIL_FOLDER   the folder, absolute; without it nothing happens
//   FAIL_AT       the call at which it happens, counted from 1
//   FAIL_HOW      kill: before the call. torn: after half of the bytes, where the call writes some.
//                 ENOSPC, EIO: the call fails so. ENOSPC+, EIO+: all from then on do
//   FAIL_LIST     a file that is appended one line a call, "write /folder/summary.csv.tmp"
//   FAIL_SENDS    where set, MPI_Send counts too
//   FAIL_CLOCK    the monotonic clock goes so many times as fast, so that what is done every few
//                 seconds is done in a short run
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

namespace {

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::string_view setting(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

long long number_in(const char* name) {
  return std::atoll(std::string(setting(name)).c_str());
}

// What a call needs for it to succeed: a full disk has room for no byte and no name more, a broken
// one can nothing.
enum class Needs { kRoom, kNothing };

// What a call is to do.
enum class Fate { kGoOn, kTear, kFail };

void note(std::string_view call, const std::string& path) {
  const std::string list(setting("FAIL_LIST"));
  if (list.empty()) return;
  const int file = real<int(const char*, int, ...)>("open")(
      list.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const std::string line = std::string(call) + " " + path + "\n";
  real<ssize_t(int, const void*, std::size_t)>("write")(file, line.data(), line.size());
  real<int(int)>("close")(file);
}

[[noreturn]] void die() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

// Counts a call; at the chosen one it does what was asked for, and sets errno where that is to
// fail.
Fate meet(std::string_view call, const std::string& path, Needs needs) {
  static std::atomic<long long> calls = 0;
  const int before = errno;
  note(call, path);
  const long long at = number_in("FAIL_AT");
  const long long now = ++calls;
  errno = before;
  std::string_view how = setting("FAIL_HOW");
  const bool lasts = how.ends_with('+');
  if (at == 0 || now < at || (now > at && !lasts)) return Fate::kGoOn;
  if (lasts) how.remove_suffix(1);
  if (how == "torn") return Fate::kTear;
  if (how == "kill") die();
  if (how == "ENOSPC" && needs == Needs::kNothing) return Fate::kGoOn;
  errno = how == "ENOSPC" ? ENOSPC : EIO;
  return Fate::kFail;
}

bool below_folder(const std::string& path) {
  const std::string_view folder = setting("FAIL_FOLDER");
  return !folder.empty() && path.starts_with(folder);
}

std::string path_of(int file) {
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  return length < 0 ? "" : std::string(path, static_cast<std::size_t>(length));
}

std::string path_of(int folder, const char* path) {
  if (path[0] == '/') return path;
  if (folder != AT_FDCWD) return path_of(folder) + "/" + path;
  char here[PATH_MAX];
  return std::string(getcwd(here, sizeof here) ? here : "") + "/" + path;
}

// What becomes of a call on a path or a file; kTear of one that writes no bytes is to be killed.
Fate fate(std::string_view call, const std::string& path, Needs needs) {
  if (!below_folder(path)) return Fate::kGoOn;
  const Fate found = meet(call, path, needs);
  if (found == Fate::kTear) die();
  return found;
}

// Of a call that writes `size` bytes, by `some`, which writes the first of them.
template <typename Write>
ssize_t write_bytes(std::string_view call, int file, std::size_t size, const Write& some) {
  const int before = errno;
  const std::string path = path_of(file);
  errno = before;
  const Fate found = below_folder(path) ? meet(call, path, Needs::kRoom) : Fate::kGoOn;
  if (found == Fate::kFail) return -1;
  if (found == Fate::kGoOn) return some(size);
  some(size / 2);
  die();
}

bool changes(int flags) {
  return (flags & (O_CREAT | O_TRUNC | O_WRONLY | O_RDWR)) != 0;
}

mode_t mode_in(int flags, va_list rest) {
  return (flags & O_CREAT) != 0 ? static_cast<mode_t>(va_arg(rest, int)) : 0;
}

constexpr long long kSecond = 1'000'000'000;

// Nanoseconds of the real clock.
long long real_time() {
  timespec time;
  real<int(clockid_t, timespec*)>("clock_gettime")(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

long long start_of_clock() {
  static const long long start = real_time();
  return start;
}

long long clock_factor() {
  static const long long factor = number_in("FAIL_CLOCK");
  return factor;
}

timespec timespec_of(long long nanoseconds) {
  return {static_cast<time_t>(nanoseconds / kSecond), static_cast<long>(nanoseconds % kSecond)};
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_in(flags, rest);
  va_end(rest);
  if (changes(flags) && fate("open", path_of(AT_FDCWD, path), Needs::kRoom) == Fate::kFail) {
    return -1;
  }
  return real<int(const char*, int, ...)>("open")(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_in(flags, rest);
  va_end(rest);
  if (changes(flags) && fate("openat", path_of(folder, path), Needs::kRoom) == Fate::kFail) {
    return -1;
  }
  return real<int(int, const char*, int, ...)>("openat")(folder, path, flags, mode);
}

ssize_t write(int file, const void* bytes, std::size_t size) {
  return write_bytes("write", file, size, [&](std::size_t count) {
    return real<ssize_t(int, const void*, std::size_t)>("write")(file, bytes, count);
  });
}

ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t place) {
  return write_bytes("pwrite", file, size, [&](std::size_t count) {
    return real<ssize_t(int, const void*, std::size_t, off_t)>("pwrite")(file, bytes, count, place);
  });
}

ssize_t writev(int file, const iovec* pieces, int count) {
  return write_bytes("writev", file, static_cast<std::size_t>(count), [&](std::size_t first) {
    return real<ssize_t(int, const iovec*, int)>("writev")(file, pieces, static_cast<int>(first));
  });
}

ssize_t sendfile(int to, int from, off_t* place, std::size_t size) {
  return write_bytes("sendfile", to, size, [&](std::size_t count) {
    return real<ssize_t(int, int, off_t*, std::size_t)>("sendfile")(to, from, place, count);
  });
}

int ftruncate(int file, off_t length) {
  if (fate("ftruncate", path_of(file), Needs::kNothing) == Fate::kFail) return -1;
  return real<int(int, off_t)>("ftruncate")(file, length);
}

int fsync(int file) {
  if (fate("fsync", path_of(file), Needs::kRoom) == Fate::kFail) return -1;
  return real<int(int)>("fsync")(file);
}

int sync_file_range(int file, off64_t first, off64_t count, unsigned int flags) {
  if (fate("sync_file_range", path_of(file), Needs::kRoom) == Fate::kFail) return -1;
  return real<int(int, off64_t, off64_t, unsigned int)>("sync_file_range")(file, first, count,
                                                                           flags);
}

int rename(const char* from, const char* to) {
  if (fate("rename", path_of(AT_FDCWD, to), Needs::kRoom) == Fate::kFail) return -1;
  return real<int(const char*, const char*)>("rename")(from, to);
}

int link(const char* from, const char* to) {
  if (fate("link", path_of(AT_FDCWD, to), Needs::kRoom) == Fate::kFail) return -1;
  return real<int(const char*, const char*)>("link")(from, to);
}

int mkdir(const char* path, mode_t mode) {
  if (fate("mkdir", path_of(AT_FDCWD, path), Needs::kRoom) == Fate::kFail) return -1;
  return real<int(const char*, mode_t)>("mkdir")(path, mode);
}

int remove(const char* path) {
  if (fate("remove", path_of(AT_FDCWD, path), Needs::kNothing) == Fate::kFail) return -1;
  return real<int(const char*)>("remove")(path);
}

int unlink(const char* path) {
  if (fate("unlink", path_of(AT_FDCWD, path), Needs::kNothing) == Fate::kFail) return -1;
  return real<int(const char*)>("unlink")(path);
}

int unlinkat(int folder, const char* path, int flags) {
  if (fate("unlinkat", path_of(folder, path), Needs::kNothing) == Fate::kFail) return -1;
  return real<int(int, const char*, int)>("unlinkat")(folder, path, flags);
}

// A message of a rank; the handles of MPI are passed on as they are, pointers or numbers.
int MPI_Send(const void* bytes, int count, void* type, int rank, int tag, void* world) {
  if (!setting("FAIL_SENDS").empty()) meet("MPI_Send", std::to_string(rank), Needs::kNothing);
  return real<int(const void*, int, void*, int, int, void*)>("MPI_Send")(bytes, count, type, rank,
                                                                         tag, world);
}

int clock_gettime(clockid_t clock, timespec* time) {
  if (clock != CLOCK_MONOTONIC || clock_factor() == 0) {
    return real<int(clockid_t, timespec*)>("clock_gettime")(clock, time);
  }
  const long long start = start_of_clock();
  *time = timespec_of(start + (real_time() - start) * clock_factor());
  return 0;
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  timespec real_until = *until;
  if (clock == CLOCK_MONOTONIC && clock_factor() != 0) {
    const long long start = start_of_clock();
    const long long wanted = until->tv_sec * kSecond + until->tv_nsec;
    // Half a millisecond at least, or a wait of a few would keep a processor busy.
    real_until = timespec_of(
        std::max(start + (wanted - start) / clock_factor(), real_time() + kSecond / 2000));
  }
  return real<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>(
      "pthread_cond_clockwait")(condition, mutex, clock, &real_until);
}
}
