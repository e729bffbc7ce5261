#include "io/whole_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "io/file_descriptor.h"
#include "io/tensor.h"

namespace attnscale {

std::optional<std::string> read_file_if_any(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::symlink_status(path, error).type() ==
      std::filesystem::file_type::not_found) {
    return std::nullopt;
  }
  return read_file(path);
}

std::string read_file(const std::filesystem::path& path, std::size_t most) {
  const FileDescriptor file(path, O_RDONLY);
  std::string bytes;
  std::array<char, 1 << 16> piece;
  for (;;) {
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_file_error("read", path, errno);
    if (count == 0) return bytes;
    bytes.append(piece.data(), static_cast<std::size_t>(count));
    if (bytes.size() > most) throw_file_error("read", path, EFBIG);
  }
}

MappedFile map_file(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
  const FileDescriptor file(path, O_RDONLY | O_NONBLOCK);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_file_error("read", path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw MatrixFileError(path.string() +
                          ": is not a file; expected a .npy, .npz, .safetensors or .csv file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    throw MatrixFileError(
        path.string() +
        ": byte 0: the file is empty; expected a matrix, as numpy.save writes it, or lines of "
        "numbers in a file that ends in .csv");
  }
  // The map outlives the descriptor.
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) throw_file_error("map", path, errno);
  const auto unmap = [size](const std::byte* begin) {
    ::munmap(const_cast<std::byte*>(begin), size);
  };
  return {std::shared_ptr<const std::byte>(static_cast<const std::byte*>(memory), unmap), size};
}

}  // namespace attnscale
