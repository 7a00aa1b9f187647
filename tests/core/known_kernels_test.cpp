#include "core/known_kernels.hpp"

#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

LoadedKernel small() { return {0, 16}; }
LoadedKernel deep() { return {0, 4096}; }

/// As a library of kernels does it: the list is made when the first asks for it.
const bool beforeMain = (addKnownKernel(&small), true);

TEST(KnownKernels, AreThoseThatWereAddedBeforeMainAndSince) {
  ASSERT_TRUE(beforeMain);
  const auto before = knownKernels();
  EXPECT_THAT(before, ::testing::Contains(&small));
  addKnownKernel(&deep);
  auto after = knownKernels();
  ASSERT_EQ(after.size(), before.size() + 1);
  EXPECT_EQ(after.back()().stackBytes, 4096);
  after.pop_back();
  EXPECT_EQ(after, before);
}

TEST(KnownKernels, AreAddedAndReadByThreadsAtATime) {
  const std::size_t before = knownKernels().size();
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) {
        addKnownKernel(&small);
        for (const KernelLoader load : knownKernels()) ASSERT_NE(load, nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(knownKernels().size(), before + 400);
}

}  // namespace
}  // namespace tessera
