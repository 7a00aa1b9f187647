// Sizes and addresses of the memory of tasks, on one thread; slab_model_test.cpp has what threads do to it.
#include <map>

#include <gtest/gtest.h>

#include "scheduler/engine/queues/host_memory.hpp"

namespace tessera::engine {
namespace {

using Records = SlabRecords<ScopedAtomics<Scope::Device>>;
constexpr std::uint64_t kPage = SlabClasses::kPageBytes;
constexpr std::uint64_t kBase = 16 * kPage;

/// Nothing touches the memory itself, so it need not be there.
struct SlabOfSizes {
  explicit SlabOfSizes(std::uint32_t pages) : records(kBase, pages) {}
  std::uint64_t allocate(std::uint64_t bytes) {
    const auto answer = records.view().allocate(bytes, hints, 0);
    return answer.fault == MemoryFault::None ? answer.address : 0;
  }
  MemoryFault release(std::uint64_t address) const { return records.view().release(address); }
  std::uint64_t inUse() const { return records.view().bytesInUse(); }

  Records records;
  Slab<ScopedAtomics<Scope::Device>>::Hints hints{};
};

TEST(SlabSizes, ABlockIsLargeEnoughAndLessThanAThirdOfItIsUnused) {
  SlabOfSizes slab(1);
  for (std::uint64_t bytes = 1; bytes <= SlabClasses::kLargestBlock; ++bytes) {
    const std::uint64_t block = slab.allocate(bytes);
    ASSERT_NE(block, 0U);
    ASSERT_GE(slab.inUse(), bytes);
    ASSERT_LT(slab.inUse() - bytes, bytes < 64 ? 64 : slab.inUse() / 3 + 1) << bytes << " bytes";
    ASSERT_EQ(slab.release(block), MemoryFault::None);
    ASSERT_EQ(slab.inUse(), 0U);
  }
}

TEST(SlabSizes, AboveTheLargestBlockAnAllocationIsWholePages) {
  SlabOfSizes slab(4);
  for (const auto& [bytes, expected] :
       std::map<std::uint64_t, std::uint64_t>{{SlabClasses::kLargestBlock, SlabClasses::kLargestBlock},
                                              {SlabClasses::kLargestBlock + 1, kPage},
                                              {kPage, kPage},
                                              {kPage + 1, 2 * kPage},
                                              {4 * kPage, 4 * kPage}}) {
    const std::uint64_t block = slab.allocate(bytes);
    EXPECT_NE(block, 0U);
    EXPECT_EQ(slab.inUse(), expected);
    EXPECT_EQ(slab.release(block), MemoryFault::None);
  }
  EXPECT_EQ(slab.allocate(4 * kPage + 1), 0U);
}

TEST(SlabSizes, APageHoldsAsManyBlocksAsFitAndNoMore) {
  for (std::uint32_t number = 0; number < SlabClasses::kCount; ++number) {
    SlabOfSizes slab(1);
    const std::uint64_t block = SlabClasses::blockBytes(number);
    for (std::uint64_t n = 0; n < kPage / block; ++n) {
      const std::uint64_t address = slab.allocate(block);
      EXPECT_TRUE(address >= kBase && address + block <= kBase + kPage) << "block " << n << " of " << block;
    }
    EXPECT_EQ(slab.allocate(block), 0U);
  }
}

TEST(SlabSizes, AddressesThatAreNoStartOfABlockAreForeign) {
  SlabOfSizes slab(4);
  const std::uint64_t block = slab.allocate(96);  // 682 of them leave 64 bytes at the end of the page
  const std::uint64_t page = block / kPage * kPage;
  const std::uint64_t large = slab.allocate(2 * kPage);
  for (const std::uint64_t address : {block + 1, block + 64, page + 682 * 96, large + 64, large + kPage,
                                      kBase - 64, kBase + 4 * kPage, std::uint64_t{0}, ~std::uint64_t{0}}) {
    EXPECT_EQ(slab.release(address), MemoryFault::Foreign) << address - kBase;
  }
  EXPECT_EQ(slab.inUse(), 96 + 2 * kPage);
  EXPECT_EQ(slab.release(large), MemoryFault::None);
  EXPECT_EQ(slab.release(large), MemoryFault::FreedTwice);
  EXPECT_EQ(slab.release(large + 64), MemoryFault::Foreign);
  EXPECT_EQ(slab.release(block), MemoryFault::None);
  EXPECT_EQ(slab.release(block), MemoryFault::FreedTwice);
  EXPECT_EQ(slab.inUse(), 0U);
}

/// An allocation of three pages finds no room between two blocks, though so many pages are free, and takes
/// none of them.
TEST(SlabSizes, ARunOfPagesThatFindsNoRoomLeavesThemFree) {
  SlabOfSizes slab(5);
  std::uint64_t runs[5];
  for (std::uint64_t& run : runs) run = slab.allocate(kPage);
  for (const int n : {0, 1, 3, 4}) EXPECT_EQ(slab.release(runs[n]), MemoryFault::None);
  EXPECT_EQ(slab.allocate(3 * kPage), 0U);
  EXPECT_EQ(slab.inUse(), kPage);
  EXPECT_NE(slab.allocate(2 * kPage), 0U);
  EXPECT_NE(slab.allocate(2 * kPage), 0U);
  EXPECT_EQ(slab.inUse(), 5 * kPage);
}

}  // namespace
}  // namespace tessera::engine
