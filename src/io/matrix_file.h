// Matrices in files, as models' tensors are written. Strict: a file that is not exactly tensors of
// finite numbers is refused, with a message that says why. Knows nothing of queries and keys.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "io/tensor.h"
#include "io/whole_file.h"
#include "numerics/matrix.h"

namespace attnscale {

/// A matrix, whose numbers nobody has looked at, and what it is in.
struct MatrixFile {
  MappedFile file;
  Tensor tensor;
  Matrix matrix;
};

/// A file, and the tensor in it if it holds several: what "layer.npz:q" names.
struct TensorName {
  std::filesystem::path path;
  std::string tensor;  ///< may be empty

  /// As it is written.
  std::string text() const;
};

/// Only a file that ends in .npz or .safetensors, in any case, has tensors with names.
TensorName tensor_name(const std::string& text);

/// The tensor of that name; a file with one tensor needs none. What ends in .csv is CSV; others say
/// themselves what they are: .npy, .npz, .safetensors. The file is mapped, so it must not be
/// changed while the tensor is used; compressed members of an .npz are unpacked into memory.
///
/// Throws MatrixFileError if the file is wrong, with the way out where it is known, and
/// std::system_error if it cannot be read.
Tensor open_tensor(const TensorName& name);

/// The same as a matrix. Reads none of its numbers where they are binary.
MatrixFile open_matrix_file(const TensorName& name, const TensorReading& reading);

/// What a file is that others write and this program does not read, with the one line that turns it
/// into an .npz; nothing if it is not known. `name` is the file's.
std::optional<std::string> foreign_file(std::string_view bytes, const std::string& name);

}  // namespace attnscale
