#include "core/memory/available_memory.hpp"

#include <sys/resource.h>

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(AvailableMemory, OfAMachineIsWhatCanBeHadAndTheSwapSpace) {
  EXPECT_EQ(freeBytesOf("MemTotal: 100 kB\nMemFree: 10 kB\nMemAvailable:  60 kB\nSwapFree: 5 kB\n"),
            65 * 1024);
  EXPECT_EQ(freeBytesOf("MemTotal: 100 kB\nMemAvailable:  60 kB\n"), 60 * 1024);
  EXPECT_EQ(freeBytesOf("MemTotal: 100 kB\n"), -1);
  EXPECT_EQ(freeBytesOf(""), -1);
}

TEST(AvailableMemory, IsBoundedByTheLimitsOfTheProcess) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &before), 0);
  EXPECT_GT(availableOnMachine().bytes, 0);
  const rlimit small{rlim_t{1} << 30, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &small), 0);
  const AvailableMemory limited = availableToProcess();
  setrlimit(RLIMIT_DATA, &before);
  EXPECT_LE(limited.bytes, std::int64_t{1} << 30);
  EXPECT_GE(limited.bytes, 0);
  EXPECT_EQ(limited.limit, "ulimit -d");
}

}  // namespace
}  // namespace tessera
