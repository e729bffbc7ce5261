#include "io/file_descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace attnscale {

FileDescriptor::FileDescriptor(const std::filesystem::path& path, int flags)
    : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
  if (number_ < 0) throw_file_error("open", path, errno);
}

FileDescriptor::~FileDescriptor() {
  close();
}

int FileDescriptor::close() {
  const int number = std::exchange(number_, -1);
  if (number < 0) return 0;
  return ::close(number) == 0 ? 0 : errno;
}

void throw_file_error(std::string_view action, const std::filesystem::path& path, int error) {
  throw std::system_error(error, std::generic_category(),
                          "cannot " + std::string(action) + " " + path.string());
}

}  // namespace attnscale
