#include "io/npy_header.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "io/matrix_file_error.h"

namespace attnscale {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string shown = "\"";
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_printable = byte >= 0x20 && byte < 0x7F;
    shown += is_printable ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return shown.append(text.size() > kMost ? "...\"" : "\"");
}

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
    const std::string text(file_.substr(at_ + 1, end - at_ - 1));
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

std::optional<NumberFormat> format_of(std::string_view descr) {
  if (!descr.starts_with('<') && !descr.starts_with('>')) return std::nullopt;
  const std::string_view type = descr.substr(1);
  if (type == "f2") return NumberFormat::kFloat16;
  if (type == "f4") return NumberFormat::kFloat32;
  if (type == "f8") return NumberFormat::kFloat64;
  return std::nullopt;
}

std::string shape_text(const std::vector<std::int64_t>& sizes) {
  std::string text = "(";
  for (const std::int64_t size : sizes) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + (sizes.size() == 1 ? ",)" : ")");
}

void take_shape(HeaderText& text, NpyHeader& header) {
  const std::size_t begin = text.skip_blanks();
  std::vector<std::int64_t> sizes = text.take_sizes();
  const auto refuse = [&](const char* reason) {
    text.fail_at(begin, "found the shape " + shape_text(sizes) + reason);
  };
  if (sizes.size() != 2 && sizes.size() != 3) {
    refuse("; expected (rows, d) or (heads, rows, d): reshape the array");
  }
  constexpr std::int64_t kMost = std::int64_t{1} << 48;  // bytes that a process can address
  std::int64_t numbers = 1;
  for (const std::int64_t size : sizes) {
    if (size == 0) refuse(", which holds nothing; expected at least one row of one number");
    if (size > kMost / numbers) refuse(", beyond any memory");
    numbers *= size;
  }
  if (sizes.size() == 2) sizes.insert(sizes.begin(), 1);
  header.heads = sizes[0];
  header.rows = sizes[1];
  header.columns = sizes[2];
}

void take_format(HeaderText& text, NpyHeader& header) {
  const std::size_t begin = text.skip_blanks();
  constexpr const char* kExpected =
      "\"<f2\", \"<f4\" or \"<f8\" (float16, float32 or float64), or big-endian with \">\"";
  const std::string descr = text.take_text(kExpected);
  const auto format = format_of(descr);
  if (!format) {
    text.fail_at(
        begin, fmt::format("found numbers of the type {}; expected {}: save array.astype(\"<f4\")",
                           in_quotes(descr), kExpected));
  }
  header.format = *format;
  header.order = descr.front() == '<' ? std::endian::little : std::endian::big;
}

void take_order(HeaderText& text) {
  const std::size_t begin = text.skip_blanks();
  if (!text.take_truth()) return;
  text.fail_at(begin,
               "found numbers in Fortran order; expected C order: save "
               "numpy.ascontiguousarray(array)");
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

}  // namespace

NpyHeader read_npy_header(std::string_view file, const std::string& name) {
  const TextBounds bounds = text_bounds(file, name);
  HeaderText text(file, bounds.begin, bounds.end, name);
  NpyHeader header;
  header.bytes = static_cast<std::int64_t>(bounds.end);
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
      take_format(text, header);
    } else if (key == "fortran_order") {
      take_order(text);
    } else if (key == "shape") {
      take_shape(text, header);
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
    if (std::find(seen.begin(), seen.end(), key) == seen.end()) {
      text.fail_at(bounds.begin, std::string("the header has no '") + key +
                                     "'; save the array again with numpy.save");
    }
  }
  return header;
}

}  // namespace attnscale
