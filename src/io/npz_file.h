// NumPy's .npz: a zip archive of .npy files. The zip library is not visible outside.
#pragma once

#include <string>
#include <vector>

#include "io/whole_file.h"

namespace attnscale {

/// Names of the files in a zip archive, in its order. Throws MatrixFileError if it is none.
std::vector<std::string> names_in_zip(const MappedFile& file, const std::string& name);

/// The bytes of the member of that name: still mapped if they are stored as they are, else unpacked
/// into memory. Throws MatrixFileError if they are not what the archive says.
MappedFile read_zip_member(const MappedFile& file, const std::string& name,
                           const std::string& member);

}  // namespace attnscale
