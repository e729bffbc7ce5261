#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/targets.h"
#include "io/result_tables.h"

namespace attnscale {
namespace {

// A file in memory, by its path, with these bytes.
std::filesystem::path file_with(std::string_view bytes) {
  static const int file = ::memfd_create("rows", MFD_CLOEXEC);
  const bool is_written =
      ::ftruncate(file, 0) == 0 &&
      ::pwrite(file, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  expect(is_written, "there is memory for a file");
  return "/proc/self/fd/" + std::to_string(file);
}

template <typename Row>
void read_as(std::string_view bytes) {
  may_refuse([&] {
    const std::vector<Row> rows = read_rows<Row>(file_with(bytes));
    const std::string text = to_csv(table_of<Row>(rows));
    expect(to_csv(table_of<Row>(read_rows<Row>(file_with(text)))) == text,
           "rows read back as they were written");
  });
}

}  // namespace

void fuzz_summary(std::string_view bytes) {
  read_as<ResultRow>(bytes);
  read_as<CrossingRow>(bytes);
  read_as<ContrastRow>(bytes);
  read_as<HistogramRow>(bytes);
  read_as<WeightRow>(bytes);
  read_as<OutputRow>(bytes);
  read_as<BaselineRow>(bytes);
}

}  // namespace attnscale
