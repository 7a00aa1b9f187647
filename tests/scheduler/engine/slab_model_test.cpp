// Every interleaving of small programs on the memory of tasks, the same code that host threads and kernels
// run.
#include <memory>

#include <gtest/gtest.h>

#include "scheduler/engine/queues/host_memory.hpp"
#include "tests/interleavings.hpp"

namespace tessera::engine {
namespace {

using test::Interleavings;
using test::ModelAtomics;
using test::ModelCase;
using test::ModelResult;

/// Pages of 256 bytes; blocks of 64 (four a page) and 128 bytes (two).
struct TinyClasses {
  static constexpr std::uint32_t kCount = 2;
  static constexpr std::uint64_t kPageBytes = 256;
  static constexpr std::uint32_t kWordsOfPage = 1;
  static constexpr std::uint64_t kLargestBlock = 128;
  static constexpr std::uint32_t blockBytes(std::uint32_t number) { return number == 0 ? 64 : 128; }
  static constexpr std::uint32_t classOf(std::uint64_t bytes) { return bytes <= 64 ? 0 : 1; }
};

struct SlabBench {
  using Memory = Slab<ModelAtomics, TinyClasses>;
  explicit SlabBench(std::uint32_t pages) : records(1024, pages) {}
  SlabRecords<ModelAtomics, TinyClasses> records;
  Memory::Hints hints;
  std::string fault;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> held;  ///< address and size

  std::uint64_t allocate(std::uint64_t bytes, std::uint32_t seed) {
    const Memory::Answer answer = records.view().allocate(bytes, hints, seed);
    if (answer.fault != MemoryFault::None) return 0;
    for (const auto& [address, size] : held) {
      if (answer.address < address + size && address < answer.address + bytes) fault = "two blocks overlap";
    }
    held.emplace_back(answer.address, bytes);
    return answer.address;
  }
  void release(std::uint64_t address) {
    std::erase_if(held, [=](const auto& block) { return block.first == address; });
    if (records.view().release(address) != MemoryFault::None) fault = "a block in use was refused";
  }
};

void expectRightSlab(const std::function<ModelCase()>& make) {
  const ModelResult result = Interleavings().explore(make);
  EXPECT_EQ(result.fault, "") << "in execution " << result.executions;
  EXPECT_GT(result.states, 20);
}

/// Each thread allocates and releases, and allocates again.
ModelCase turns(std::uint32_t pages, std::vector<std::uint64_t> sizes) {
  auto bench = std::make_shared<SlabBench>(pages);
  ModelCase model;
  for (std::size_t t = 0; t < sizes.size(); ++t) {
    model.threads.push_back([=] {
      const std::uint64_t block = bench->allocate(sizes[t], static_cast<std::uint32_t>(t));
      if (block != 0) bench->release(block);
      bench->allocate(sizes[t], static_cast<std::uint32_t>(t));
    });
  }
  model.verdict = [=]() -> std::string {
    if (!bench->fault.empty()) return bench->fault;
    while (!bench->held.empty()) bench->release(bench->held.back().first);
    if (bench->records.view().bytesInUse() != 0) return "bytes are in use after the last release";
    // Free memory has grown together: the largest allocation fits again.
    return bench->allocate(pages * TinyClasses::kPageBytes, 0) != 0 ? bench->fault : "a page is lost";
  };
  return model;
}

TEST(SlabModel, BlocksOfOneClassNeverOverlap) {
  expectRightSlab([] { return turns(1, {64, 64}); });
}

TEST(SlabModel, APageChangesItsClassOnlyWhenItIsEmpty) {
  expectRightSlab([] { return turns(1, {64, 128}); });
}

TEST(SlabModel, LargeAllocationsTakeWholePagesOrNone) {
  expectRightSlab([] { return turns(2, {512, 128}); });
}

TEST(SlabModel, OneOfTwoReleasesOfABlockIsRefused) {
  for (const std::uint64_t bytes : {64, 300}) {
    expectRightSlab([=] {
      auto bench = std::make_shared<SlabBench>(2);
      const std::uint64_t block = bench->allocate(bytes, 0);
      auto refused = std::make_shared<int>(0);
      ModelCase model;
      for (int t = 0; t < 3; ++t) {
        model.threads.push_back(
            [=] { *refused += bench->records.view().release(block) == MemoryFault::None ? 0 : 1; });
      }
      model.verdict = [=] { return *refused == 2 ? "" : "a block was given back twice"; };
      return model;
    });
  }
}

}  // namespace
}  // namespace tessera::engine
