#include <gtest/gtest.h>

#include "core/transport/detail/posix_shared_memory.hpp"

namespace tessera::detail {
namespace {

TEST(SharedMemory, WhoOpensItSeesWhatTheOtherWrites) {
  std::optional<SharedMemory> made = SharedMemory::make(5000);
  ASSERT_TRUE(made);

  std::optional<SharedMemory> opened = SharedMemory::open(made->address());

  ASSERT_TRUE(opened);
  EXPECT_NE(opened->data(), made->data());
  EXPECT_EQ(opened->data()[4999], std::byte{0});
  made->data()[4999] = std::byte{7};
  EXPECT_EQ(opened->data()[4999], std::byte{7});
}

TEST(SharedMemory, OutlivesWhoHasMadeIt) {
  std::optional<SharedMemory> made = SharedMemory::make(8);
  ASSERT_TRUE(made);
  made->data()[0] = std::byte{7};
  const std::optional<SharedMemory> opened = SharedMemory::open(made->address());
  ASSERT_TRUE(opened);

  made.reset();

  EXPECT_EQ(opened->data()[0], std::byte{7});
}

TEST(SharedMemory, IsNotOpenedOnceItIsClosed) {
  std::optional<SharedMemory> made = SharedMemory::make(8);
  ASSERT_TRUE(made);
  const SharedMemoryAddress before = made->address();

  made->close();

  EXPECT_FALSE(SharedMemory::open(before));
  EXPECT_FALSE(SharedMemory::open(made->address()));
}

TEST(SharedMemory, AnotherFileUnderTheSameNumberIsRefused) {
  const std::optional<SharedMemory> made = SharedMemory::make(8);
  ASSERT_TRUE(made);
  SharedMemoryAddress other = made->address();
  ++other.inode;
  SharedMemoryAddress longer = made->address();
  ++longer.bytes;

  EXPECT_FALSE(SharedMemory::open(other));
  EXPECT_FALSE(SharedMemory::open(longer));
}

TEST(SharedMemory, AMachineHasOneNumber) {
  EXPECT_NE(machineNumber(), 0U);
  EXPECT_EQ(machineNumber(), machineNumber());
}

}  // namespace
}  // namespace tessera::detail
