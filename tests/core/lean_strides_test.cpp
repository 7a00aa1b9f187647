// Windows with voids, by strides alone.
#include "core/memory/lean_strides.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tessera {
namespace {

/// A shape whose cross-sections along z are alike, and the halo around it.
struct Shape {
  std::string name;
  std::int64_t n = 0;
  std::int64_t halo = 0;

  std::vector<Box> parts() const {
    const std::int64_t half = n / 2;
    const std::int64_t quarter = n / 4;
    std::vector<Box> boxes{Box{{0, 0, 0}, {n, half, n}}, Box{{0, half, 0}, {half, n, n}}};
    if (name == "plus") {
      boxes = {Box{{0, quarter, 0}, {n, n - quarter, n}}, Box{{quarter, 0, 0}, {n - quarter, quarter, n}},
               Box{{quarter, n - quarter, 0}, {n - quarter, n, n}}};
    }
    for (Box& box : boxes) box = grow(box, uniformHalo(halo));
    return boxes;
  }
};

Box windowOf(const std::vector<Box>& parts) {
  Box window;
  for (const Box& part : parts) window = boundingBox(window, part);
  return window;
}

bool isInUse(const std::vector<Box>& parts, Index x) {
  for (const Box& part : parts) {
    if (x.i >= part.lo.i && x.i < part.hi.i && x.j >= part.lo.j && x.j < part.hi.j && x.k >= part.lo.k &&
        x.k < part.hi.k)
      return true;
  }
  return false;
}

/// Every index in use has an element that no other has; returns how many there are.
std::int64_t expectOneElementEach(const std::vector<Box>& parts, const LeanStrides& lean) {
  const Box window = windowOf(parts);
  std::vector<char> taken(static_cast<std::size_t>(lean.elements), 0);
  std::int64_t count = 0;
  std::int64_t twice = 0;
  for (std::int64_t k = window.lo.k; k < window.hi.k; ++k) {
    for (std::int64_t j = window.lo.j; j < window.hi.j; ++j) {
      for (std::int64_t i = window.lo.i; i < window.hi.i; ++i) {
        if (!isInUse(parts, {i, j, k})) continue;
        const std::int64_t at =
            i - window.lo.i + (j - window.lo.j) * lean.strideJ + (k - window.lo.k) * lean.strideK;
        if (at < 0 || at >= lean.elements) return -1;
        twice += taken[static_cast<std::size_t>(at)];
        taken[static_cast<std::size_t>(at)] = 1;
        ++count;
      }
    }
  }
  EXPECT_EQ(twice, 0);
  return count;
}

double wasteOf(const Shape& shape) {
  const std::vector<Box> parts = shape.parts();
  const auto lean = leanStrides(windowOf(parts), parts, 4);
  if (!lean) return 0.0;
  EXPECT_EQ(lean->strideJ % 4, 0);
  EXPECT_EQ(lean->strideK % 4, 0);
  const std::int64_t count = expectOneElementEach(parts, *lean);
  return static_cast<double>(lean->elements) / static_cast<double>(count);
}

TEST(LeanStrides, AnLNestsInTheNext) {
  const std::vector<Box> parts{Box{{0, 0, 0}, {8, 4, 9}}, Box{{0, 4, 0}, {4, 8, 9}}};
  const auto lean = leanStrides(windowOf(parts), parts, 1);
  ASSERT_TRUE(lean.has_value());
  EXPECT_EQ(expectOneElementEach(parts, *lean), 9 * 48);
  EXPECT_EQ(lean->strideJ, 8 + 4) << "a long row and a short one";
  EXPECT_LE(lean->strideK, 4 * 12 + 4) << "four lines on, behind a short row; 64 as a box";
}

TEST(LeanStrides, LittleIsWastedOfShapesWithVoids) {
  for (const char* name : {"L", "plus"}) {
    EXPECT_NE(wasteOf({name, 64, 0}), 0.0) << name;
    EXPECT_LE(wasteOf({name, 64, 0}), 1.03) << name;
    EXPECT_LE(wasteOf({name, 128, 0}), 1.02) << name;
  }
  EXPECT_LE(wasteOf({"L", 64, 16}), 1.05);
  EXPECT_LE(wasteOf({"L", 128, 16}), 1.05);
  EXPECT_LE(wasteOf({"plus", 64, 16}), 1.10) << "1.125 as a box";
  EXPECT_LE(wasteOf({"plus", 128, 16}), 1.13) << "1.19 as a box";
}

TEST(LeanStrides, ATwentiethAtMostIsWastedOfLargeShapes) {
  for (const std::int64_t n : {256, 512}) {
    EXPECT_LE(wasteOf({"L", n, 16}), 1.05) << n;
    EXPECT_LE(wasteOf({"L", n, 0}), 1.05) << n;
    EXPECT_LE(wasteOf({"plus", n, 0}), 1.05) << n;
  }
  EXPECT_LE(wasteOf({"plus", 512, 16}), 1.05);
  EXPECT_LE(wasteOf({"plus", 256, 16}), 1.081) << "1.077 is the least, see below; 1.246 as a box";
}

TEST(LeanStrides, AreTheSameFromTheSameBoxes) {
  for (const char* name : {"L", "plus"}) {
    const std::vector<Box> parts = Shape{name, 256, 16}.parts();
    EXPECT_EQ(leanStrides(windowOf(parts), parts, 4), leanStrides(windowOf(parts), parts, 4)) << name;
  }
}

/// Whether rows of slabs that are `slab` apart lie on one another, rows being `line` apart.
bool collide(const std::vector<Box>& rows, std::int64_t line, std::int64_t slab) {
  std::vector<char> taken(static_cast<std::size_t>(slab), 0);
  for (const Box& row : rows) {
    for (std::int64_t i = row.lo.i; i < row.hi.i; ++i) {
      char& here = taken[static_cast<std::size_t>((i + row.lo.j * line) % slab)];
      if (here != 0) return true;
      here = 1;
    }
  }
  return false;
}

/// The plus of 256 cells with halos of 16, in pieces of 16 cells: 18 rows, the short ones 10 long. The least
/// is twice 14 rows of 10 (docs/decisions/0051), which is 1.077 times the 260 in use.
TEST(LeanStrides, NoStridesAreBetterForAPlus) {
  std::vector<Box> rows;
  for (std::int64_t j = 0; j < 18; ++j) {
    const std::int64_t begin = j < 4 || j >= 14 ? 4 : 0;
    rows.push_back(Box{{begin, j, 0}, {18 - begin, j + 1, 1}});
  }
  for (std::int64_t slab = 260; slab < 280; ++slab) {
    for (std::int64_t line = 0; line < slab; ++line)
      EXPECT_TRUE(collide(rows, line, slab)) << line << ", " << slab;
  }
  EXPECT_FALSE(collide(rows, 20, 290)) << "two short rows a line, and slabs a short row further";
}

TEST(LeanStrides, ShapesThatAreAlikeAlongYNestToo) {
  const std::vector<Box> parts{Box{{0, 0, 0}, {32, 20, 16}}, Box{{0, 0, 16}, {16, 20, 32}}};
  const auto lean = leanStrides(windowOf(parts), parts, 4);
  ASSERT_TRUE(lean.has_value());
  EXPECT_LT(lean->strideK, lean->strideJ);
  EXPECT_EQ(expectOneElementEach(parts, *lean), 20 * (32 * 16 + 16 * 16));
}

TEST(LeanStrides, BoxesAndShapesAlikeAlongNoAxisAreLeftAlone) {
  const std::vector<Box> box{Box{{0, 0, 0}, {32, 32, 32}}};
  EXPECT_FALSE(leanStrides(box.front(), box, 4).has_value());
  const std::vector<Box> corner{Box{{0, 0, 0}, {32, 32, 16}}, Box{{0, 0, 16}, {16, 16, 32}}};
  EXPECT_FALSE(leanStrides(windowOf(corner), corner, 4).has_value());
}

}  // namespace
}  // namespace tessera
