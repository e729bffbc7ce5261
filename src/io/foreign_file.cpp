#include "io/foreign_file.h"

#include <fmt/core.h>

#include <filesystem>

namespace attnscale {
namespace {

// The file's own name with another ending.
std::string npz_of(const std::string& name) {
  return std::filesystem::path(name).filename().replace_extension(".npz").string();
}

}  // namespace

std::string torch_file(const std::string& name) {
  return fmt::format(
      "is a PyTorch file, a pickle, which runs code when it is read; write it as .npz: python3 -c "
      "\"import numpy, torch; x = torch.load('{0}', map_location='cpu'); x = x if isinstance(x, "
      "dict) else {{'x': x}}; numpy.savez('{1}', **{{n: t.detach().float().numpy() for n, t in "
      "x.items()}})\"",
      name, npz_of(name));
}

std::optional<std::string> foreign_file(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with("GGUF")) {
    return fmt::format(
        "is a GGUF file; write the tensors you need as .npz: python3 -c \"import gguf, numpy; "
        "numpy.savez('{1}', **{{t.name: gguf.quants.dequantize(t.data, t.tensor_type) for t in "
        "gguf.GGUFReader('{0}').tensors}})\"",
        name, npz_of(name));
  }
  // A pickle of protocol 2 to 5: torch.save before PyTorch 1.6, and pickle itself.
  const bool is_pickle = bytes.size() > 1 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
  if (is_pickle) return torch_file(name);
  if (bytes.starts_with("\x89HDF\r\n")) {
    return fmt::format(
        "is an HDF5 file; write it as .npz: python3 -c \"import h5py, numpy; f = h5py.File('{0}'); "
        "numpy.savez('{1}', **{{n: f[n][()] for n in f}})\"",
        name, npz_of(name));
  }
  return std::nullopt;
}

}  // namespace attnscale
