#include "grid/patch_index.hpp"

#include <chrono>
#include <random>

#include <gtest/gtest.h>

namespace tessera {
namespace {

std::vector<Patch> patchesAt(const std::vector<Box>& boxes) {
  std::vector<Patch> patches;
  for (const Box& box : boxes) patches.push_back({static_cast<PatchId>(patches.size()), 0, box});
  return patches;
}

std::vector<std::size_t> found(const PatchIndex& index, const Box& query) {
  std::vector<std::size_t> all;
  index.visit(query, [&](std::size_t n) { all.push_back(n); });
  return all;
}

/// Those that overlap, in the order of their places.
std::vector<std::size_t> expected(const std::vector<Patch>& patches, const Box& query) {
  std::vector<std::size_t> all;
  for (std::size_t n = 0; n < patches.size(); ++n) {
    if (!intersect(patches[n].cells, query).empty()) all.push_back(n);
  }
  std::sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
    return beforeByPosition(patches[a].cells, patches[b].cells);
  });
  return all;
}

TEST(PatchIndex, FindsTheSameWherePatchesLieFarApartAsOneByOne) {
  std::mt19937 random(7);
  std::vector<Box> boxes;
  for (int cluster = 0; cluster < 5; ++cluster) {
    const std::int64_t at = std::int64_t{cluster} * 1'000'000'000;
    for (std::int64_t i = 0; i < 6; ++i) {
      for (std::int64_t j = 0; j < 7; ++j)
        boxes.push_back({{at + 4 * i, 3 * j, at}, {at + 4 * i + 4, 3 * j + 3, at + 2}});
    }
  }
  std::shuffle(boxes.begin(), boxes.end(), random);
  const std::vector<Patch> patches = patchesAt(boxes);
  const PatchIndex index(patches);
  for (int n = 0; n < 500; ++n) {
    const Box& near = boxes[random() % boxes.size()];
    const auto reach = static_cast<std::int64_t>(random() % 20);
    const Box query =
        n % 50 == 0 ? Box{{0, 0, 0}, {1LL << 40, 100, 1LL << 40}} : grow(near, uniformHalo(reach));
    EXPECT_EQ(found(index, query), expected(patches, query));
  }
}

TEST(PatchIndex, CostsNothingForTheRoomBetweenPatches) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Patch> patches =
      patchesAt({{{0, 0, 0}, {2, 2, 2}},
                 {{1LL << 36, 1LL << 36, 1LL << 36}, {(1LL << 36) + 2, (1LL << 36) + 2, (1LL << 36) + 2}}});
  const PatchIndex index(patches);
  EXPECT_EQ(found(index, {{1, 1, 1}, {3, 3, 3}}), (std::vector<std::size_t>{0}));
  EXPECT_EQ(found(index, {{5, 5, 5}, {1LL << 36, 1LL << 36, 1LL << 36}}), (std::vector<std::size_t>{}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

}  // namespace
}  // namespace tessera
