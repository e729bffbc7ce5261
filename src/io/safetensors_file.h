// .safetensors: the size of a header, the header in JSON, and the tensors' bytes; strictly.
#pragma once

#include <map>
#include <string>

#include "io/tensor.h"
#include "io/whole_file.h"

namespace attnscale {

/// Every tensor of the file by its name. Their numbers stay where they are. Throws MatrixFileError
/// with `name` if the header is not right: its size, its JSON, a type, a shape, offsets that do not
/// fit the shape, that overlap, or that leave bytes out.
std::map<std::string, Tensor> read_safetensors(const MappedFile& file, const std::string& name);

}  // namespace attnscale
