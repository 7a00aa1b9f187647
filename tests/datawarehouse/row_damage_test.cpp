#include <cstdint>
#include <fcntl.h>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "datawarehouse/archive/row_file.hpp"
#include "tests/datawarehouse/archive_fixture.hpp"

namespace tessera::test {
namespace {

constexpr std::int64_t kRows = 7;
constexpr unsigned kMostSeconds = 10;  ///< of one reading, which takes milliseconds

enum Ending : int { kReadToTheEnd = 0, kRefused = 1, kWrongRow = 2 };

double numberAt(std::int64_t row, std::size_t column) {
  return 0.5 + static_cast<double>(row) * 10.0 + static_cast<double>(column);
}

/// Rows of two arrays, as a run of so many steps leaves them.
void writeRows(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  {
    RowFile file(descriptor, "rows.hdf",
                 {{"axis", {"axis.000", "axis.001", "axis.002"}, "line", "gas.density", "kg", {}, {}},
                  {"corner", {"corner.min"}, "region", "gas.density", "kg", {}, {}}});
    for (std::int64_t row = 0; row < kRows; ++row) {
      const std::vector<double> values{numberAt(row, 0), numberAt(row, 1), numberAt(row, 2),
                                       numberAt(row, 3)};
      file.add(row, numberAt(row, 4), numberAt(row, 5), values);
    }
  }
  ::close(descriptor);
}

/// Rows that are seen have to be those that were written, from the first one on.
Ending endOfReading(const std::string& path) {
  std::int64_t next = 0;
  bool good = true;
  try {
    forEachRow(path, [&](const NumberRow& row) {
      good = good && row.step == next && row.time == numberAt(next, 4) && row.dt == numberAt(next, 5) &&
             row.values.size() == 4;
      for (std::size_t column = 0; good && column < 4; ++column)
        good = row.values[column] == numberAt(next, column);
      ++next;
      return good;
    });
  } catch (const InputError&) {
    return good ? kRefused : kWrongRow;
  }
  return good && next <= kRows ? kReadToTheEnd : kWrongRow;
}

/// In a process of its own, which is ended where it waits; then -1.
int endInTime(const std::string& path) {
  return runInChild([&] {
    ::alarm(kMostSeconds);
    ::_exit(endOfReading(path));
  });
}

// HDF5 takes a damaged item of such a file for one that is being written, and reads it again.
TEST(RowDamage, AFileWithAChangedByteAnywhereIsReadOrRefusedAndNeverWaitedFor) {
  const TemporaryFolder folder;
  writeRows(folder.path());
  const std::filesystem::path path = folder / "rows.hdf";
  const std::string whole = readText(path);
  ASSERT_EQ(endInTime(path.string()), kReadToTheEnd);
  const std::uint32_t seed = 20261130;
  std::mt19937 random(seed);
  int refused = 0;
  constexpr int kPlaces = 120;
  for (int n = 0; n < kPlaces; ++n) {
    std::string damaged = whole;
    const std::size_t byte = random() % whole.size();
    const auto change = static_cast<char>(1 + random() % 255);
    damaged[byte] = static_cast<char>(damaged[byte] ^ change);
    writeText(path, damaged);
    const int end = endInTime(path.string());
    ASSERT_TRUE(end == kReadToTheEnd || end == kRefused)
        << "replay: seed " << seed << ", damage " << n << ": byte " << byte << " of " << whole.size()
        << " changed by ^" << static_cast<int>(static_cast<unsigned char>(change))
        << "; the reading ended with " << end;
    refused += end == kRefused ? 1 : 0;
  }
  EXPECT_GT(refused, 0) << "replay: seed " << seed;
}

TEST(RowDamage, AFileCutAnywhereIsReadOrRefusedAndNeverWaitedFor) {
  const TemporaryFolder folder;
  writeRows(folder.path());
  const std::filesystem::path path = folder / "rows.hdf";
  const std::string whole = readText(path);
  for (std::size_t part = 0; part < 20; ++part) {
    const std::size_t length = whole.size() * part / 20;
    writeText(path, whole.substr(0, length));
    EXPECT_EQ(endInTime(path.string()), kRefused) << "cut at " << length << " of " << whole.size();
  }
}

}  // namespace
}  // namespace tessera::test
