#include "core/memory/grown_heap.hpp"

#include <fstream>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <vector>

#include <gtest/gtest.h>

namespace tessera {
namespace {

long pageFaults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// Whether the system gives large pages to those who ask.
bool systemHasLargePages() {
  std::string words;
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::getline(file, words);
  return words.find("[madvise]") != std::string::npos || words.find("[always]") != std::string::npos;
}

std::vector<std::unique_ptr<std::vector<double>>> manySmallOnes(int count) {
  std::vector<std::unique_ptr<std::vector<double>>> objects;
  for (int n = 0; n < count; ++n) objects.push_back(std::make_unique<std::vector<double>>(100, 1.0 * n));
  return objects;
}

TEST(GrownHeap, HoldsManySmallObjectsOnFewPages) {
  growHeap(std::int64_t{64} << 20);
  const long before = pageFaults();
  const auto objects = manySmallOnes(50'000);  // 42 MB
  const long faults = pageFaults() - before;
  for (int n = 0; n < 50'000; n += 9'999) EXPECT_EQ(objects[static_cast<std::size_t>(n)]->back(), n);
  // Sanitizers bring a heap of their own.
  EXPECT_GT(faults, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  if (systemHasLargePages()) {
    EXPECT_LT(faults, 3000) << "with pages of 4 kB there are more than 10,000";
  }
#endif
}

TEST(GrownHeap, OfLittleOrNothingIsAsItWas) {
  growHeap(0);
  growHeap(-1);
  growHeap(1000);
  EXPECT_EQ(manySmallOnes(10).size(), 10U);
}

}  // namespace
}  // namespace tessera
