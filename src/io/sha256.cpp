#include "io/sha256.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <nettle/sha2.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "io/file_descriptor.h"

namespace attnscale {
namespace {

// The hash of a message that arrives in pieces.
class Sha256 {
 public:
  Sha256() { sha256_init(&context_); }

  void add(const void* bytes, std::size_t count) {
    sha256_update(&context_, count, static_cast<const std::uint8_t*>(bytes));
  }

  // The digest in hexadecimal; call once.
  std::string finish() {
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest;
    sha256_digest(&context_, digest.size(), digest.data());
    std::string digits;
    for (const std::uint8_t byte : digest) digits += fmt::format("{:02x}", byte);
    return digits;
  }

 private:
  sha256_ctx context_;
};

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.finish();
}

std::string sha256_hex_of_file(const std::filesystem::path& path) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 16;
  const FileDescriptor file(path, O_RDONLY);
  std::vector<char> piece(kPieceBytes);
  Sha256 hash;
  for (;;) {
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_file_error("read", path, errno);
    if (count == 0) return hash.finish();
    hash.add(piece.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace attnscale
