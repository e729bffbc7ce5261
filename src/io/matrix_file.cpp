#include "io/matrix_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "io/csv_reader.h"
#include "io/npy_file.h"
#include "io/npz_file.h"
#include "io/safetensors_file.h"

namespace attnscale {
namespace {

// The file's own name with another ending.
std::string npz_of(const std::string& name) {
  return std::filesystem::path(name).filename().replace_extension(".npz").string();
}

// Letters A to Z made small: a file's ending means the same in capitals.
std::string in_small(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : static_cast<char>(c);
  });
  return text;
}

// What a PyTorch file in its zip form is.
std::string torch_file(const std::string& name) {
  return fmt::format(
      "is a PyTorch file, a pickle, which runs code when it is read; write it as .npz: python3 -c "
      "\"import numpy, torch; x = torch.load('{0}', map_location='cpu'); x = x if isinstance(x, "
      "dict) else {{'x': x}}; numpy.savez('{1}', **{{n: t.detach().float().numpy() for n, t in "
      "x.items()}})\"",
      name, npz_of(name));
}

// The name among those that a file holds. Empty means the only one.
std::string choose(const TensorName& name, const std::vector<std::string>& names) {
  if (std::ranges::count(names, name.tensor) > 0) return name.tensor;
  if (name.tensor.empty() && names.size() == 1) return names.front();
  constexpr std::size_t kShown = 12;
  std::string listed;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    listed += (i == 0 ? "" : ", ") + in_quotes(names[i]);
  }
  if (names.size() > kShown) listed += fmt::format(" and {} more", names.size() - kShown);
  if (names.empty()) refuse_file(name.path.string(), "holds no tensor");
  const std::string path = name.path.string();
  if (name.tensor.empty()) {
    refuse_file(path,
                fmt::format("holds {} tensors: {}; say which after a colon, such as \"{}:{}\"",
                            names.size(), listed, path, names.front()));
  }
  refuse_file(path, fmt::format("holds no tensor {}; it holds {}", in_quotes(name.tensor), listed));
}

Tensor open_npz(const MappedFile& file, const TensorName& name) {
  constexpr std::string_view kEnding = ".npy";
  const std::string path = name.path.string();
  std::vector<std::string> names;
  std::set<std::string> seen;  // NumPy knows a member by both its names, "q" and "q.npy"
  for (std::string member : names_in_zip(file, path)) {
    if (member.ends_with("data.pkl")) refuse_file(path, torch_file(path));
    const bool is_array = member.ends_with(kEnding);
    if (is_array) member.resize(member.size() - kEnding.size());
    if (!seen.insert(member).second) {
      refuse_file(path, fmt::format("found {} a second time in the archive; save it again with "
                                    "one array of each name",
                                    in_quotes(member)));
    }
    if (is_array) names.push_back(member);
  }
  TensorName wanted = name;
  if (wanted.tensor.ends_with(kEnding)) {
    wanted.tensor.resize(wanted.tensor.size() - kEnding.size());
  }
  wanted.tensor = choose(wanted, names);
  const std::string text = wanted.text();
  return read_npy(read_zip_member(file, text, wanted.tensor + ".npy"), text);
}

Tensor open_safetensors(const MappedFile& file, const TensorName& name) {
  std::map<std::string, Tensor> tensors = read_safetensors(file, name.path.string());
  std::vector<std::string> names;
  for (const auto& [key, tensor] : tensors) names.push_back(key);
  return tensors.at(choose(name, names));
}

Tensor tensor_in(const MappedFile& file, const TensorName& name) {
  const std::string path = name.path.string();
  const std::string ending = in_small(name.path.extension().string());
  const std::string_view bytes = file.text();
  if (ending == ".csv") return read_csv_matrix(bytes, path);
  if (bytes.starts_with("PK")) return open_npz(file, name);
  if (bytes.starts_with("\x93NUMPY")) return read_npy(file, path);
  if (ending == ".safetensors") return open_safetensors(file, name);
  if (const auto what = foreign_file(bytes, path)) refuse_file(path, *what);
  return read_npy(file, path);  // which says what it expected
}

}  // namespace

std::string TensorName::text() const {
  return tensor.empty() ? path.string() : path.string() + ":" + tensor;
}

TensorName tensor_name(const std::string& text) {
  const std::string small = in_small(text);
  for (const std::string_view ending : {".safetensors:", ".npz:"}) {
    const std::size_t found = small.find(ending);
    if (found == std::string::npos) continue;
    const std::size_t colon = found + ending.size() - 1;
    return {text.substr(0, colon), text.substr(colon + 1)};
  }
  return {text, ""};
}

Tensor open_tensor(const TensorName& name) {
  return tensor_in(map_file(name.path), name);
}

MatrixFile open_matrix_file(const TensorName& name, const TensorReading& reading) {
  const MappedFile file = map_file(name.path);
  const Tensor tensor = tensor_in(file, name);
  return {file, tensor, laid_out(tensor, reading)};
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
