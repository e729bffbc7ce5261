#include "io/npz_file.h"

#include <fmt/core.h>
#include <minizip/unzip.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "io/tensor.h"

namespace attnscale {
namespace {

// What the zip library reads from: a span of memory and a place in it.
struct Memory {
  std::string_view text;
  ZPOS64_T at = 0;
};

Memory& memory_of(voidpf stream) {
  return *static_cast<Memory*>(stream);
}

zlib_filefunc64_def functions_of(Memory& memory) {
  zlib_filefunc64_def functions{};
  functions.opaque = &memory;
  functions.zopen64_file = [](voidpf opaque, const void*, int) { return opaque; };
  functions.zread_file = [](voidpf, voidpf stream, void* out, uLong size) {
    Memory& from = memory_of(stream);
    const std::size_t left = from.text.size() - std::min<std::size_t>(from.at, from.text.size());
    const std::size_t taken = std::min<std::size_t>(size, left);
    if (taken != 0) std::memcpy(out, from.text.data() + from.at, taken);
    from.at += taken;
    return static_cast<uLong>(taken);
  };
  functions.ztell64_file = [](voidpf, voidpf stream) { return memory_of(stream).at; };
  functions.zseek64_file = [](voidpf, voidpf stream, ZPOS64_T offset, int origin) -> long {
    Memory& from = memory_of(stream);
    const ZPOS64_T begin = origin == SEEK_SET ? 0 : origin == SEEK_CUR ? from.at : from.text.size();
    if (offset > from.text.size() || begin > from.text.size() - offset) return -1;
    from.at = begin + offset;
    return 0;
  };
  functions.zclose_file = [](voidpf, voidpf) { return 0; };
  functions.zerror_file = [](voidpf, voidpf) { return 0; };
  return functions;
}

class Archive {
 public:
  Archive(std::string_view text, const std::string& name) : memory_{text}, name_(name) {
    zlib_filefunc64_def functions = functions_of(memory_);
    file_.reset(unzOpen2_64(name.c_str(), &functions));
    if (!file_) {
      refuse_file(name, "found a zip archive without its directory: it was cut off; save it again");
    }
  }

  // Moves to the member of that name; false if there is none.
  bool find(const std::string& member) {
    return visit([&](const std::string& found) { return found == member; });
  }

  std::vector<std::string> names() {
    std::vector<std::string> all;
    visit([&](const std::string& found) {
      all.push_back(found);
      return false;
    });
    return all;
  }

  unz_file_info64 current() {
    unz_file_info64 about{};
    check(unzGetCurrentFileInfo64(file_.get(), &about, nullptr, 0, nullptr, 0, nullptr, 0));
    return about;
  }

  // Opens the current member as it is stored, and gives the place where its bytes begin.
  ZPOS64_T open_raw() {
    int method = 0;
    int level = 0;
    check(unzOpenCurrentFile2(file_.get(), &method, &level, 1));
    return unzGetCurrentFileZStreamPos64(file_.get());
  }

  void unpack(std::vector<std::byte>& out) {
    check(unzOpenCurrentFile(file_.get()));
    std::size_t at = 0;
    while (at < out.size()) {
      const auto most = static_cast<unsigned>(std::min<std::size_t>(out.size() - at, 1U << 30));
      const int taken = unzReadCurrentFile(file_.get(), out.data() + at, most);
      if (taken <= 0) fail_packed();
      at += static_cast<std::size_t>(taken);
    }
    std::byte after{};
    if (unzReadCurrentFile(file_.get(), &after, 1) != 0) fail_packed();
    check(unzCloseCurrentFile(file_.get()));
  }

  void check(int code) const {
    if (code != UNZ_OK) fail_packed();
  }

 private:
  [[noreturn]] void fail_packed() const {
    refuse_file(name_, "a member of the zip archive is damaged; save it again");
  }

  // Moves from member to member until `stop` says true of a name.
  template <typename Stop>
  bool visit(const Stop& stop) {
    constexpr std::size_t kLongest = 4096;
    std::vector<char> name(kLongest);
    int code = unzGoToFirstFile(file_.get());
    for (; code == UNZ_OK; code = unzGoToNextFile(file_.get())) {
      unz_file_info64 about{};
      check(unzGetCurrentFileInfo64(file_.get(), &about, name.data(), kLongest - 1, nullptr, 0,
                                    nullptr, 0));
      if (about.size_filename >= kLongest) refuse_file(name_, "a name in the archive is too long");
      if (stop(std::string(name.data(), about.size_filename))) return true;
    }
    if (code != UNZ_END_OF_LIST_OF_FILE) fail_packed();
    return false;
  }

  struct Close {
    void operator()(void* file) const { unzClose(file); }
  };

  Memory memory_;
  const std::string& name_;
  std::unique_ptr<void, Close> file_;
};

MappedFile stored_member(const MappedFile& file, Archive& archive, const std::string& name,
                         const unz_file_info64& about) {
  const ZPOS64_T begin = archive.open_raw();
  const std::size_t size = about.uncompressed_size;
  if (about.compressed_size != size || begin > file.size || size > file.size - begin) {
    refuse_file(name,
                "a member of the zip archive ends beyond the file: it was cut off; save it again");
  }
  const MappedFile member{file.from(begin), size};
  const auto* const bytes = reinterpret_cast<const Bytef*>(member.bytes.get());
  if (crc32_z(crc32_z(0, nullptr, 0), bytes, size) != about.crc) {
    refuse_file(name,
                "a member of the zip archive is damaged: its checksum differs; save it again");
  }
  return member;
}

}  // namespace

std::vector<std::string> names_in_zip(const MappedFile& file, const std::string& name) {
  // The library finds no directory at the beginning of a file, where that of nothing is.
  constexpr std::string_view kDirectoryEnd = "PK\5\6";
  if (file.text().starts_with(kDirectoryEnd)) return {};
  return Archive(file.text(), name).names();
}

MappedFile read_zip_member(const MappedFile& file, const std::string& name,
                           const std::string& member) {
  Archive archive(file.text(), name);
  archive.find(member);
  const unz_file_info64 about = archive.current();
  constexpr unsigned kEncrypted = 1;
  if ((about.flag & kEncrypted) != 0)
    refuse_file(name, "the archive is encrypted; save it without");
  if (about.uncompressed_size == 0) refuse_file(name, "a member of the archive is empty");
  if (about.compression_method == 0) return stored_member(file, archive, name, about);
  if (about.compression_method != Z_DEFLATED) {
    refuse_file(name, fmt::format("found the compression method {}; expected none or deflate, as "
                                  "numpy.savez and numpy.savez_compressed write",
                                  about.compression_method));
  }
  constexpr ZPOS64_T kBestRatio = 1100;  // deflate makes nothing smaller than 1/1032
  if (about.compressed_size > file.size ||
      about.uncompressed_size / kBestRatio > about.compressed_size) {
    refuse_file(name, "a member of the zip archive says that it is larger than it can be");
  }
  const auto unpacked = std::make_shared<std::vector<std::byte>>(about.uncompressed_size);
  archive.unpack(*unpacked);
  return {std::shared_ptr<const std::byte>(unpacked, unpacked->data()), unpacked->size()};
}

}  // namespace attnscale
