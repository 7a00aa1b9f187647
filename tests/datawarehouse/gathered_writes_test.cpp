#include "datawarehouse/archive/detail/gathered_writes.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "tests/datawarehouse/archive_fixture.hpp"

namespace tessera::detail {
namespace {

class WritesOfPatches : public testing::Test {
 protected:
  void SetUp() override { file_ = Folder::open(folder_.path(), ops_).createFile("file", ops_); }

  static std::vector<std::byte> numbered(std::size_t count, int first) {
    std::vector<std::byte> bytes(count);
    for (std::size_t n = 0; n < count; ++n)
      bytes[n] = static_cast<std::byte>(first + static_cast<int>(n % 100));
    return bytes;
  }

  void expectAt(std::int64_t offset, const std::vector<std::byte>& bytes) const {
    std::vector<std::byte> found(bytes.size());
    EXPECT_EQ(file_.readAt(found, offset), static_cast<std::int64_t>(bytes.size()));
    EXPECT_EQ(found, bytes) << "at " << offset;
  }

  test::TemporaryFolder folder_;
  FaultPlan plan_;
  FileOps ops_{"test", &plan_};
  File file_;
};

TEST_F(WritesOfPatches, OfManySmallPartsAreFewCallsOfTheSystem) {
  GatheredWrites writes(file_, ops_);
  const std::int64_t before = plan_.hits();
  for (int n = 0; n < 4096; ++n) writes.put(std::int64_t{64} * n, numbered(64, n % 50));
  writes.flush();
  EXPECT_LE(plan_.hits() - before, 4096 * 64 / (1 << 18) + 1);
  for (const int n : {0, 1, 2048, 4095}) expectAt(std::int64_t{64} * n, numbered(64, n % 50));
}

TEST_F(WritesOfPatches, LeaveGapsAsTheyAreAndKeepTheOrder) {
  GatheredWrites writes(file_, ops_);
  const std::vector<std::byte> large = numbered(1 << 20, 3);
  writes.put(10, numbered(20, 1));
  writes.put(100, numbered(5, 2));
  writes.put(105, large);
  writes.put(105 + static_cast<std::int64_t>(large.size()), numbered(7, 4));
  writes.put(10, numbered(3, 9));
  writes.flush();
  expectAt(10, numbered(3, 9));
  expectAt(30, std::vector<std::byte>(70));
  expectAt(100, numbered(5, 2));
  expectAt(105, large);
  expectAt(105 + static_cast<std::int64_t>(large.size()), numbered(7, 4));
}

TEST_F(WritesOfPatches, FailWhereTheSystemRefuses) {
  plan_.add({.point = "test.write", .occurrence = 1, .effect = FaultEffect::Fail, .error = ENOSPC});
  GatheredWrites writes(file_, ops_);
  writes.put(0, numbered(10, 1));
  EXPECT_THROW(writes.flush(), IoError);
}

}  // namespace
}  // namespace tessera::detail
