#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "tools/simulation/analysis/analysis_field.hpp"

namespace tessera {
namespace {

const auto kByDigits = [](Index x) {
  return static_cast<double>(x.i) + 10.0 * static_cast<double>(x.j) + 100.0 * static_cast<double>(x.k);
};
using ValuesByDigits = CellValues<decltype(kByDigits)>;

std::vector<double> sortedNumbers(const ValuesByDigits& values, Index cell) {
  std::vector<double> found;
  values.forEach(cell, [&](double value) { found.push_back(value); });
  std::sort(found.begin(), found.end());
  return found;
}

Geometry meshOfCells(Extent cells) {
  Geometry geometry;
  geometry.cells = cells;
  return geometry;
}

TEST(CellValues, OfCellsAreTheNumbersThemselves) {
  const ValuesByDigits values(kByDigits, meshOfCells({4, 4, 4}), Cell);
  EXPECT_EQ(values({1, 2, 3}), 321.0);
  EXPECT_EQ(sortedNumbers(values, {1, 2, 3}), std::vector<double>{321.0});
}

TEST(CellValues, OfFacesAreTheMeanOfTheTwoThatTheCellHas) {
  const Geometry geometry = meshOfCells({4, 4, 4});
  EXPECT_EQ(ValuesByDigits(kByDigits, geometry, FaceX)({1, 2, 3}), 321.5);
  EXPECT_EQ(ValuesByDigits(kByDigits, geometry, FaceY)({1, 2, 3}), 326.0);
  EXPECT_EQ(ValuesByDigits(kByDigits, geometry, FaceZ)({1, 2, 3}), 371.0);
  EXPECT_EQ(sortedNumbers(ValuesByDigits(kByDigits, geometry, FaceY), {1, 2, 3}),
            (std::vector<double>{321.0, 331.0}));
}

TEST(CellValues, OfNodesAreTheMeanOfAllCorners) {
  const ValuesByDigits values(kByDigits, meshOfCells({4, 4, 4}), Node);
  EXPECT_EQ(values({1, 2, 3}), 321.0 + 0.5 + 5.0 + 50.0);
  EXPECT_EQ(sortedNumbers(values, {1, 2, 3}),
            (std::vector<double>{321.0, 322.0, 331.0, 332.0, 421.0, 422.0, 431.0, 432.0}));
}

TEST(CellValues, AlongAnAxisOfOneCellBothBordersAreOne) {
  const Geometry plane = meshOfCells({4, 4, 1});
  EXPECT_EQ(sortedNumbers(ValuesByDigits(kByDigits, plane, Node), {1, 2, 0}),
            (std::vector<double>{21.0, 22.0, 31.0, 32.0}));
  EXPECT_EQ(sortedNumbers(ValuesByDigits(kByDigits, plane, FaceZ), {1, 2, 0}), std::vector<double>{21.0});
}

TEST(CellValues, MirroredNumbersHaveTheSameMean) {
  const Geometry geometry = meshOfCells({4, 4, 4});
  const auto rough = [](Index x) {
    return (x.i == 0 ? 1e16 : 1.0) * (x.j == 0 ? 1.0 : 0.3) + static_cast<double>(x.k) / 3.0;
  };
  const auto mirrored = [rough](Index x) { return rough({1 - x.i, 1 - x.j, 1 - x.k}); };
  EXPECT_EQ(CellValues(rough, geometry, Node)({0, 0, 0}), CellValues(mirrored, geometry, Node)({0, 0, 0}));
}

}  // namespace
}  // namespace tessera
