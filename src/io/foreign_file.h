// Files of tensors that others write and this program does not read. Private to io.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace attnscale {

/// What a file of such bytes is, with the one line that turns it into an .npz; nothing if it is not
/// known. `name` is the file's.
std::optional<std::string> foreign_file(std::string_view bytes, const std::string& name);

/// The same for a PyTorch file in its zip form.
std::string torch_file(const std::string& name);

}  // namespace attnscale
