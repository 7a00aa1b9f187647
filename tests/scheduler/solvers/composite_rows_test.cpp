#include "scheduler/solvers/composite/composite_rows.hpp"

#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "core/transport/loopback_transport.hpp"
#include "grid/refine.hpp"
#include "scheduler/solvers/hypre/hypre_composite.hpp"
#include "scheduler/solvers/loops/piece_loops.hpp"

namespace tessera {
namespace {

/// A number in 0.5 to 1.5 that depends on all of these.
double numberOf(std::int64_t what, std::int64_t level, Index x) {
  return 1.0 + 0.5 * std::sin(static_cast<double>(7 * what + 31 * level) + 1.7 * static_cast<double>(x.i) +
                              2.9 * static_cast<double>(x.j) - 0.6 * static_cast<double>(x.k));
}

struct MeshOfRows {
  Extent cells;
  bool isPeriodic;
  std::vector<std::vector<Box>> finer;  ///< boxes of each refined level, in its cells
  std::vector<Real3> holes{};           ///< middles of balls of radius 1.2, in cells of level 0
};

/// Whether a cell is in a hole, by its own middle.
bool isHole(const MeshOfRows& mesh, LevelId level, Index x) {
  const double size = std::pow(0.5, level);
  for (const Real3& hole : mesh.holes) {
    double square = 0.0;
    for (int d = 0; d < kAxes; ++d) {
      const bool isFlat = mesh.cells[d] == 1;
      const double away = isFlat ? 0.0 : size * (static_cast<double>(x[d]) + 0.5) - hole[d];
      square += away * away;
    }
    if (square < 1.2 * 1.2) return true;
  }
  return false;
}

/// Level 0 is cut into four.
std::shared_ptr<const Hierarchy> meshOf(const MeshOfRows& mesh) {
  Geometry geometry;
  geometry.cells = mesh.cells;
  geometry.periodic = {false, mesh.isPeriodic, false};
  const auto coarsest = Hierarchy::uniform(geometry, {Division::By::Patches, {2, 2, 1}});
  std::vector<Level> levels{coarsest->level(0)};
  PatchId id = coarsest->patchCount();
  const Extent ratio{2, 2, mesh.cells.k > 1 ? 2 : 1};
  Box domain = levels.front().domain();
  for (std::size_t n = 0; n < mesh.finer.size(); ++n) {
    domain = refine(domain, ratio);
    std::vector<Patch> patches;
    for (const Box& box : mesh.finer[n]) patches.push_back({id++, static_cast<LevelId>(n) + 1, box});
    levels.emplace_back(static_cast<LevelId>(n) + 1, geometry, domain, ratio, std::move(patches));
  }
  return std::make_shared<const Hierarchy>(geometry, std::move(levels));
}

/// Whether the cell beside a face is one of a hole: of the level, or beyond it of the coarser one.
bool isHoleOnLevels(const MeshOfRows& mesh, const SystemLevel& level, Index x) {
  const LevelId number = level.level.number();
  const auto& boxes = level.boxes.boxes;
  const bool isOnLevel =
      number == 0 || std::any_of(boxes.begin(), boxes.end(), [&](const Box& box) { return box.contains(x); });
  if (isOnLevel) return isHole(mesh, number, x);
  return isHole(mesh, number - 1, Refinement{level.level.ratioToCoarser(), {}}.parent(x));
}

/// A matrix with another number on each face, closed on the sides that are not periodic and beside holes.
void fillMatrix(const MeshOfRows& mesh, SystemLevel& level, Transport& transport) {
  const GridBoxes& grid = level.boxes;
  const std::int64_t number = level.level.number();
  LayerExchange layers(grid, LayerPart::WithSides, transport);
  for (std::size_t n = 0; n < grid.own.size(); ++n) {
    const Box& box = grid.boxes[grid.own[n]];
    detail::forEachInOrder(box, [&](Index x) {
      level.system.matrix.sink.field(n)(x) =
          isHole(mesh, level.level.number(), x) ? 0.0 : numberOf(0, number, x);
    });
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!grid.active[static_cast<std::size_t>(axis)]) continue;
      Box faces = box;
      ++faces.hi[axis];
      const bool wraps = grid.wraps[static_cast<std::size_t>(axis)];
      const std::int64_t end = grid.domain.hi[axis];
      detail::forEachInOrder(faces, [&](Index x) {
        const bool isSide = !wraps && (x[axis] == 0 || x[axis] == end);
        Index at = x;
        if (wraps && x[axis] == end) at[axis] = 0;
        level.system.matrix.faces[static_cast<std::size_t>(axis)].field(n)(x) =
            isSide || isHoleOnLevels(mesh, level, x) || isHoleOnLevels(mesh, level, x - unit(axis))
                ? 0.0
                : numberOf(1 + axis, number, at);
      });
    }
  }
  level.system.matrix.forEachNumbers([&](CellNumbers& numbers) { layers.fill(numbers); });
}

/// Compares rows with what the operator makes of a vector, and returns the largest difference on this rank.
double largestDifference(const MeshOfRows& mesh, const Hierarchy& hierarchy, Transport& transport) {
  const RankMap owners = distribute(hierarchy, transport.size());
  SolverSystem system;
  for (const Level& level : hierarchy.levels())
    system.levels.push_back(std::make_unique<SystemLevel>(level, owners, transport));
  CompositeOperator composite(system, transport);
  for (const auto& level : system.levels) fillMatrix(mesh, *level, transport);
  composite.prepare();
  LevelNumbers u = numbersOf(system);
  LevelNumbers product = numbersOf(system);
  const RowNumbers rows(system, transport.size());
  std::map<std::int64_t, double> byRow;
  for (std::size_t n = 0; n < u.size(); ++n) {
    const GridBoxes& grid = system.levels[n]->boxes;
    for (std::size_t box = 0; box < grid.boxes.size(); ++box) {
      std::int64_t row = rows.firstOfBox(n, box);
      detail::forEachInOrder(grid.boxes[box],
                             [&](Index x) { byRow[row++] = numberOf(9, static_cast<std::int64_t>(n), x); });
    }
  }
  EXPECT_EQ(std::ssize(byRow), rows.count());
  forEachLevelBox(system, [&](std::size_t n, std::size_t m, const Box& box) {
    detail::forEachInOrder(box,
                           [&](Index x) { u[n].field(m)(x) = numberOf(9, static_cast<std::int64_t>(n), x); });
  });
  composite.apply(u, product);

  std::vector<double> expected;
  forEachLevelBox(system, [&](std::size_t n, std::size_t m, const Box& box) {
    const Field<double> weight = system.levels[n]->weights.field(m);
    detail::forEachInOrder(box, [&](Index x) { expected.push_back(weight(x) * product[n].field(m)(x)); });
  });
  double largest = 0.0;
  std::size_t at = 0;
  std::int64_t next = rows.firstOf(transport.rank());
  CompositeRows(system, composite, rows)
      .forEach([&](std::int64_t row, std::span<const CompositeRows::Entry> entries) {
        EXPECT_EQ(row, next++);
        double sum = 0.0;
        std::int64_t last = -1;
        for (const CompositeRows::Entry& entry : entries) {
          EXPECT_LT(last, entry.column);
          last = entry.column;
          sum += entry.number * byRow.at(entry.column);
        }
        // Cells that are no unknowns have a row of their own, with a product of 0 in the operator.
        if (entries.size() > 1 || expected.at(at) != 0.0) {
          largest = std::max(largest, std::abs(sum - expected.at(at)));
        } else {
          EXPECT_EQ(entries.front().column, row);
          EXPECT_GT(entries.front().number, 0.0);
        }
        ++at;
      });
  EXPECT_EQ(next, rows.endOf(transport.rank()));
  return largest;
}

void expectRowsOfOperator(const MeshOfRows& mesh) {
  const auto hierarchy = meshOf(mesh);
  for (const int ranks : {1, 2, 3}) {
    LoopbackWorld world(ranks);
    std::vector<double> largest(static_cast<std::size_t>(ranks), -1.0);
    runRanks(world, [&](Transport& transport) {
      largest[static_cast<std::size_t>(transport.rank())] = largestDifference(mesh, *hierarchy, transport);
    });
    for (const double one : largest) {
      EXPECT_GE(one, 0.0);
      EXPECT_LT(one, 1e-13) << ranks << " ranks";
    }
  }
}

TEST(CompositeRows, AreThoseOfTheOperatorOnTwoLevels) {
  expectRowsOfOperator({{10, 8, 8}, false, {{{{4, 4, 4}, {12, 10, 12}}}}});
}

/// A corner of the finer level lets a value beyond it come from cells under other finer ones.
TEST(CompositeRows, AreThoseOfTheOperatorAroundACorner) {
  expectRowsOfOperator({{12, 12, 1}, false, {{{{4, 4, 0}, {16, 10, 1}}, {{4, 10, 0}, {10, 18, 1}}}}});
}

/// The finest level reaches to a side, and the one below it across a period.
TEST(CompositeRows, AreThoseOfTheOperatorOnThreeLevelsAcrossAPeriod) {
  expectRowsOfOperator({{10, 8, 8},
                        true,
                        {{{{0, 0, 4}, {14, 10, 12}}, {{0, 12, 4}, {14, 16, 12}}},
                         {{{0, 0, 12}, {12, 8, 20}}, {{0, 28, 12}, {12, 32, 20}}}}});
}

/// Holes within both levels, across the border of the finer one, beside it, and at its corner: what is
/// interpolated beyond the level then ends at them, in rows of both sides of a face, on one rank or two.
TEST(CompositeRows, AreThoseOfTheOperatorAroundHoles) {
  const std::vector<Real3> holes{
      {2.0, 2.0, 3.0}, {4.1, 3.9, 4.0}, {6.0, 3.5, 6.0}, {8.0, 8.1, 3.9}, {3.4, 6.2, 5.0}};
  expectRowsOfOperator({{10, 10, 8}, false, {{{{4, 4, 4}, {12, 16, 12}}}}, holes});
  expectRowsOfOperator({{12, 12, 1}, false, {{{{4, 4, 0}, {16, 10, 1}}, {{4, 10, 0}, {10, 18, 1}}}}, holes});
  expectRowsOfOperator(
      {{12, 12, 1}, false, {{{{4, 4, 0}, {20, 18, 1}}}, {{{16, 12, 0}, {32, 28, 1}}}}, holes});
}

TEST(RowNumbers, AreThoseOfBoxesOfARankOneAfterAnother) {
  const auto mesh = meshOf({{8, 8, 1}, true, {{{{4, 4, 0}, {12, 12, 1}}}}});
  LoopbackWorld world(2);
  runRanks(world, [&](Transport& transport) {
    const RankMap owners = distribute(*mesh, 2);
    SolverSystem system;
    for (const Level& level : mesh->levels())
      system.levels.push_back(std::make_unique<SystemLevel>(level, owners, transport));
    const RowNumbers rows(system, 2);
    EXPECT_EQ(rows.count(), 128);
    EXPECT_EQ(rows.firstOf(0), 0);
    EXPECT_EQ(rows.endOf(1), 128);
    EXPECT_EQ(rows.endOf(0), rows.firstOf(1));
    EXPECT_EQ(rows.find(0, {3, -1, 0}), rows.find(0, {3, 7, 0}));
    EXPECT_FALSE(rows.find(0, {-1, 0, 0}));
    EXPECT_FALSE(rows.find(1, {3, 4, 0}));
    EXPECT_TRUE(rows.find(1, {4, 4, 0}));
  });
}

TEST(HypreComposite, MoreRowsThanHypreCountsAreRefused) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
  EXPECT_NO_THROW(requireCountable(kMost, kMost / 24));
  EXPECT_THROW(requireCountable(kMost + 1, 1), DeckError);
  EXPECT_THROW(requireCountable(kMost, kMost / 24 + 1), DeckError);
}

}  // namespace
}  // namespace tessera
