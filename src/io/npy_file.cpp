#include "io/npy_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace attnscale {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// Reads the Python literal of a header: a dict of texts, truth values and tuples of integers.
class HeaderText {
 public:
  HeaderText(std::string_view file, std::size_t begin, std::size_t end, const std::string& name)
      : file_(file.substr(0, end)), at_(begin), name_(name) {}

  [[noreturn]] void fail_at(std::size_t byte, const std::string& what) const {
    throw MatrixFileError(fmt::format("{}: byte {}: {}", name_, byte, what));
  }
  [[noreturn]] void fail(const std::string& expected) const {
    const std::string found =
        at_ == file_.size() ? "the end of the header" : in_quotes(file_.substr(at_, 20));
    fail_at(at_, fmt::format("found {} in the .npy header; expected {}, as numpy.save writes it",
                             found, expected));
  }

  std::size_t skip_blanks() {
    while (at_ < file_.size() && (file_[at_] == ' ' || file_[at_] == '\n')) ++at_;
    return at_;
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!file_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail(in_quotes(token));
  }
  void expect_end() {
    if (skip_blanks() != file_.size()) fail("its end");
  }

  std::string take_text(const std::string& what) {
    skip_blanks();
    const char quote = at_ < file_.size() ? file_[at_] : ' ';
    const std::size_t end = file_.find(quote, at_ + 1);
    if ((quote != '\'' && quote != '"') || end == std::string_view::npos) fail(what);
    std::string text(file_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return text;
  }

  bool take_truth() {
    if (take("True")) return true;
    if (!take("False")) fail("True or False");
    return false;
  }

  std::int64_t take_size() {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 16;
    const std::size_t begin = skip_blanks();
    std::int64_t size = 0;
    for (; at_ < file_.size() && file_[at_] >= '0' && file_[at_] <= '9'; ++at_) {
      if (size > kMost / 10 - 1) fail_at(begin, "found a size beyond any memory");
      size = 10 * size + (file_[at_] - '0');
    }
    if (at_ == begin) fail("a size");
    return size;
  }

  std::vector<std::int64_t> take_sizes() {
    std::vector<std::int64_t> sizes;
    expect("(");
    while (!take(")")) {
      sizes.push_back(take_size());
      if (take(")")) break;
      expect(",");
    }
    return sizes;
  }

 private:
  std::string_view file_;
  std::size_t at_;
  const std::string& name_;
};

// "<f4" and the like; bits alone are "|V2", "<V2", "<u2", "|u1" and "|i1".
void take_format(HeaderText& text, Tensor& tensor) {
  constexpr const char* kExpected =
      "\"<f2\", \"<f4\" or \"<f8\" (float16, float32 or float64), or big-endian with \">\"";
  const std::string descr = text.take_text(kExpected);
  tensor.type = descr;
  const bool is_big = descr.starts_with('>');
  if (is_big || descr.starts_with('<')) {
    const std::string_view type = std::string_view(descr).substr(1);
    if (type == "f2") tensor.format = NumberFormat::kFloat16;
    if (type == "f4") tensor.format = NumberFormat::kFloat32;
    if (type == "f8") tensor.format = NumberFormat::kFloat64;
    tensor.order = is_big ? std::endian::big : std::endian::little;
  }
  if (descr == "|b1") tensor.format = NumberFormat::kBool;
  if (tensor.format) tensor.item_bytes = row_of(*tensor.format).bytes;
  if (descr.size() != 3 || is_big) return;
  const std::string_view kind = std::string_view(descr).substr(1);
  tensor.holds_bits = kind == "V1" || kind == "V2" || kind == "u1" || kind == "u2" || kind == "i1";
  if (tensor.holds_bits) tensor.item_bytes = kind[1] - '0';
}

// Where the header's text begins and ends.
struct TextBounds {
  std::size_t begin;
  std::size_t end;
};

TextBounds text_bounds(std::string_view file, const std::string& name) {
  const auto fail = [&](const std::string& what) { throw MatrixFileError(name + ": " + what); };
  if (file.substr(0, kMagic.size()) != kMagic) {
    const std::string found =
        file.empty() ? "an empty file" : in_quotes(file.substr(0, kMagic.size()));
    fail("byte 0: found " + found +
         "; expected \"\\x93NUMPY\", with which a .npy file begins: write it with numpy.save, or "
         "give a file whose name ends in .csv");
  }
  if (file.size() < 10) fail("byte " + std::to_string(file.size()) + ": the header is cut off");
  const int version = static_cast<unsigned char>(file[6]);
  if (version < 1 || version > 3 || file[7] != 0) {
    const int minor = static_cast<unsigned char>(file[7]);
    fail(fmt::format("byte 6: found version {}.{} of the .npy format; expected 1.0, 2.0 or 3.0",
                     version, minor));
  }
  const std::size_t size_bytes = version == 1 ? 2 : 4;
  const std::size_t begin = 8 + size_bytes;
  std::size_t size = 0;
  for (std::size_t i = 0; i < size_bytes && 8 + i < file.size(); ++i) {
    size |= std::size_t{static_cast<unsigned char>(file[8 + i])} << 8 * i;
  }
  if (file.size() < begin || file.size() - begin < size) {
    fail(
        fmt::format("byte {}: the file ends inside its header, which should end at byte {}; save "
                    "the array again",
                    file.size(), begin + size));
  }
  return {begin, begin + size};
}

// The dict of the header, whose text ends where the numbers begin.
void read_header(HeaderText& text, const std::string& name, Tensor& tensor) {
  std::vector<std::string> seen;
  text.expect("{");
  while (!text.take("}")) {
    const std::size_t begin = text.skip_blanks();
    const std::string key = text.take_text("'descr', 'fortran_order' or 'shape'");
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      text.fail_at(begin, "found '" + key + "' a second time in the header");
    }
    seen.push_back(key);
    text.expect(":");
    if (key == "descr") {
      take_format(text, tensor);
    } else if (key == "fortran_order") {
      tensor.fortran_order = text.take_truth();
    } else if (key == "shape") {
      tensor.shape = text.take_sizes();
    } else {
      text.fail_at(begin, "found " + in_quotes(key) +
                              " in the header; expected 'descr', 'fortran_order' and 'shape'");
    }
    if (!text.take(",")) {
      text.expect("}");
      break;
    }
  }
  text.expect_end();
  for (const char* key : {"descr", "fortran_order", "shape"}) {
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
    throw MatrixFileError(
        fmt::format("{}: the header has no '{}'; save the array again with numpy.save", name, key));
  }
}

}  // namespace

Tensor read_npy(const MappedFile& file, const std::string& name) {
  const TextBounds bounds = text_bounds(file.text(), name);
  HeaderText text(file.text(), bounds.begin, bounds.end, name);
  Tensor tensor;
  tensor.name = name;
  read_header(text, name, tensor);
  const std::int64_t numbers = numbers_in(tensor.shape, name);
  tensor.first_byte = static_cast<std::int64_t>(bounds.end);
  tensor.numbers = file.from(bounds.end);
  if (tensor.item_bytes == 0) return tensor;  // a type whose numbers are never read
  const std::int64_t expected = *tensor.first_byte + numbers * tensor.item_bytes;
  const auto size = static_cast<std::int64_t>(file.size);
  if (size == expected) return tensor;
  const std::string shape =
      fmt::format("its header gives the shape {}, whose numbers end at byte {}",
                  shape_text(tensor.shape), expected);
  throw MatrixFileError(
      size < expected
          ? fmt::format("{}: byte {}: the file ends here, but {}: it was cut off; save it again",
                        name, size, shape)
          : fmt::format("{}: byte {}: {} bytes too many: {}; save one array per file", name,
                        expected, size - expected, shape));
}

}  // namespace attnscale
