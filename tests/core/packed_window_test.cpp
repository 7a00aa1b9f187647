#include "core/memory/packed_window.hpp"

#include <functional>
#include <random>
#include <span>
#include <string>

#include <gtest/gtest.h>

namespace tessera {
namespace {

struct Shape {
  Box window;
  std::vector<Box> parts;
  std::int64_t distinct = 0;  ///< indices in some part
};

Shape shapeOf(std::vector<Box> parts) {
  Shape shape{{}, std::move(parts), 0};
  for (const Box& part : shape.parts) shape.window = boundingBox(shape.window, part);
  const Extent n = shape.window.extent();
  std::vector<bool> used(static_cast<std::size_t>(shape.window.volume()), false);
  for (const Box& part : shape.parts) {
    for (std::int64_t k = part.lo.k; k < part.hi.k; ++k) {
      for (std::int64_t j = part.lo.j; j < part.hi.j; ++j) {
        for (std::int64_t i = part.lo.i; i < part.hi.i; ++i) {
          const Index at = Index{i, j, k} - shape.window.lo;
          const auto here = static_cast<std::size_t>(at.i + n.i * (at.j + n.j * at.k));
          shape.distinct += used[here] ? 0 : 1;
          used[here] = true;
        }
      }
    }
  }
  return shape;
}

/// Patches of 16^3, grown by `halo`, of a cube of n^3 where `inside` says so of two of the axes.
Shape patches(std::int64_t n, std::int64_t halo, int axis,
              const std::function<bool(std::int64_t, std::int64_t)>& inside) {
  std::vector<Box> parts;
  for (std::int64_t k = 0; k < n; k += 16) {
    for (std::int64_t j = 0; j < n; j += 16) {
      for (std::int64_t i = 0; i < n; i += 16) {
        const Index lo{i, j, k};
        if (inside(lo[(axis + 1) % 3], lo[(axis + 2) % 3]))
          parts.push_back(grow({lo, lo + Index{16, 16, 16}}, uniformHalo(halo)));
      }
    }
  }
  return shapeOf(std::move(parts));
}

std::int64_t bytesOfBox(const Shape& shape, std::int64_t element) { return shape.window.volume() * element; }

/// Every index of every part has memory of its own, and the pages of these are as many as was said.
void expectDistinctMemory(const Shape& shape, const PackedWindow& packed, std::int64_t element) {
  ASSERT_EQ(packed.window, shape.window);
  const int inner = 3 - packed.outer;
  std::vector<std::int8_t> uses(static_cast<std::size_t>(packed.memoryPages * kPageBytes), 0);
  std::vector<bool> touched(static_cast<std::size_t>(packed.memoryPages), false);
  for (std::size_t s = 0; s < packed.slabs.size(); ++s) {
    const SlabPages pages = slabPages(packed, s, element);
    const Box& slab = packed.slabs[s];
    for (std::int64_t k = slab.lo.k; k < slab.hi.k; ++k) {
      for (std::int64_t j = slab.lo.j; j < slab.hi.j; ++j) {
        const Index at = Index{slab.lo.i, j, k} - packed.window.lo;
        const std::int64_t address =
            (at.i + at[inner] * packed.rowStride + at[packed.outer] * packed.slabStride) * element;
        for (std::int64_t n = 0; n < slab.extent().i * element; ++n) {
          const std::int64_t page = (address + n) / kPageBytes;
          ASSERT_TRUE(page >= pages.begin && page < pages.end);
          const std::int64_t byte =
              (pages.memory + page - pages.begin) * kPageBytes + (address + n) % kPageBytes;
          touched.at(static_cast<std::size_t>(byte / kPageBytes)) = true;
          ASSERT_EQ(uses.at(static_cast<std::size_t>(byte))++, 0) << "two indices in one place";
        }
      }
    }
  }
  EXPECT_EQ(std::count(touched.begin(), touched.end(), true) * kPageBytes, packed.bytes);
  for (const Box& part : shape.parts) {
    for (std::int64_t n = part.lo[packed.outer]; n < part.hi[packed.outer]; ++n) {
      Box cut = part;
      cut.lo[packed.outer] = n;
      cut.hi[packed.outer] = n + 1;
      ASSERT_TRUE(packed.slabs[static_cast<std::size_t>(n - shape.window.lo[packed.outer])].contains(cut));
    }
  }
}

TEST(PackedWindow, TakesAtMostATwentiethMoreThanAnLOrAPlusWhicheverWayItLies) {
  for (const std::int64_t n : {64, 128}) {
    const auto ell = [&](std::int64_t u, std::int64_t v) { return u < n / 2 || v < n / 2; };
    const auto plus = [&](std::int64_t u, std::int64_t v) {
      return (u >= n / 4 && u < 3 * n / 4) || (v >= n / 4 && v < 3 * n / 4);
    };
    for (const std::int64_t halo : {0, 16}) {
      for (int axis = 0; axis < kAxes; ++axis) {
        for (const bool isPlus : {false, true}) {
          SCOPED_TRACE(std::to_string(n) + (isPlus ? " plus" : " L") + " along axis " + std::to_string(axis) +
                       ", halo " + std::to_string(halo));
          const Shape shape = isPlus ? patches(n, halo, axis, plus) : patches(n, halo, axis, ell);
          const auto packed = packWindow(shape.window, shape.parts, 8, bytesOfBox(shape, 8));
          ASSERT_TRUE(packed.has_value());
          EXPECT_LE(static_cast<double>(packed->bytes), 1.05 * 8.0 * static_cast<double>(shape.distinct));
          if (n == 64) expectDistinctMemory(shape, *packed, 8);
        }
      }
    }
  }
}

/// Rows of 288 and 160 cells, 5 long ones to 4 short ones: strides that are worth trying are long.
TEST(PackedWindow, TakesAtMostATwentiethMoreOfLargeShapes) {
  const Halo halo = uniformHalo(16);
  const Box bar = grow(Box{{0, 0, 0}, {256, 128, 256}}, halo);
  const Box bars[] = {shift(bar, {0, 64, 0}), grow(Box{{64, 0, 0}, {192, 256, 256}}, halo)};
  const Box ell[] = {bar, grow(Box{{0, 0, 0}, {128, 256, 256}}, halo)};
  constexpr std::int64_t kDistinct = 288 * (160 * 288 + 128 * 160);
  for (const std::span<const Box> parts : {std::span<const Box>(bars), std::span<const Box>(ell)}) {
    const Box window = boundingBox(parts[0], parts[1]);
    const auto packed = packWindow(window, parts, 8, window.volume() * 8);
    ASSERT_TRUE(packed.has_value());
    EXPECT_LE(static_cast<double>(packed->bytes), 1.05 * 8.0 * static_cast<double>(kDistinct));
    EXPECT_EQ(packed, packWindow(window, parts, 8, window.volume() * 8)) << "the same from the same boxes";
  }
}

TEST(PackedWindow, GivesEachIndexMemoryOfItsOwnForRandomParts) {
  int found = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
    std::vector<Box> parts(2 + static_cast<std::size_t>(below(4)));
    for (Box& part : parts) {
      part.lo = {below(90) - 20, below(40) - 20, below(40) - 20};
      part.hi = part.lo + Index{1 + below(80), 1 + below(30), 1 + below(30)};
    }
    const Shape shape = shapeOf(std::move(parts));
    const std::int64_t element = std::vector<std::int64_t>{4, 8, 12, 24}[static_cast<std::size_t>(below(4))];
    const auto packed = packWindow(shape.window, shape.parts, element, bytesOfBox(shape, element));
    if (!packed) continue;
    ++found;
    EXPECT_LE(packed->bytes, bytesOfBox(shape, element));
    expectDistinctMemory(shape, *packed, element);
  }
  EXPECT_GT(found, 20);
}

TEST(PackedWindow, LeavesOutWhatLiesBetweenIslands) {
  const Shape shape = shapeOf({{{0, 0, 0}, {64, 16, 16}}, {{0, 80, 80}, {64, 96, 96}}});
  const auto packed = packWindow(shape.window, shape.parts, 8, bytesOfBox(shape, 8));
  ASSERT_TRUE(packed.has_value());
  EXPECT_EQ(packed->bytes, 8 * shape.distinct);
  expectDistinctMemory(shape, *packed, 8);
}

TEST(PackedWindow, IsNotMadeWhereItTakesMoreThanTheLimitOrIsSmall) {
  const Shape box = shapeOf({{{0, 0, 0}, {64, 64, 64}}});
  EXPECT_FALSE(packWindow(box.window, box.parts, 8, bytesOfBox(box, 8) - 1).has_value());
  const Shape small = shapeOf({{{0, 0, 0}, {16, 8, 8}}, {{0, 8, 0}, {8, 16, 8}}});
  EXPECT_FALSE(packWindow(small.window, small.parts, 8, bytesOfBox(small, 8)).has_value());
}

}  // namespace
}  // namespace tessera
