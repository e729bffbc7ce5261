// SHA-256 (FIPS 180-4) by Nettle, for the manifest and for `verify`. Knows nothing of runs.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace attnscale {

/// The 64 lower-case hexadecimal digits of the SHA-256 of `bytes`.
std::string sha256_hex(std::string_view bytes);

/// The same of a file's contents, read piece by piece. Throws std::system_error that names the file
/// if it cannot be read.
std::string sha256_hex_of_file(const std::filesystem::path& path);

}  // namespace attnscale
