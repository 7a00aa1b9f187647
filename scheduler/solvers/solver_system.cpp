#include "scheduler/solvers/solver_system.hpp"

#include <utility>

#include "scheduler/solvers/exact_totals.hpp"
#include "scheduler/solvers/loops/solver_loops.hpp"

namespace tessera {
namespace {

GridBoxes boxesOn(const Level& level, const RankMap& owners, Rank rank, SolverDevice* device) {
  GridBoxes grid = gridBoxes(level, owners, rank);
  grid.device = device;
  return areAligned(grid, level.ratioToCoarser()) ? grid : aligned(grid, level.ratioToCoarser(), rank);
}

}  // namespace

SystemLevel::SystemLevel(const Level& of, const RankMap& owners, Transport& transport, MatrixKind kind,
                         SolverDevice* device)
    : level(of), boxes(boxesOn(of, owners, transport.rank(), device)), system(boxes, kind) {
  GridBoxes ofPatches = gridBoxes(of, owners, transport.rank());
  if (!areAligned(ofPatches, of.ratioToCoarser()))
    patches = std::make_unique<PatchBoxes>(std::move(ofPatches), boxes, transport);
}

double dotOf(const SolverSystem& system, const LevelNumbers& a, const LevelNumbers& b, Transport& transport) {
  SumOnBoxes sum(system.levels.front()->boxes.device);
  for (std::size_t n = 0; n < a.size(); ++n) {
    const SystemLevel& level = *system.levels[n];
    for (std::size_t m = 0; m < level.boxes.own.size(); ++m) {
      const Box& box = level.boxes.boxes[level.boxes.own[m]];
      if (level.weights.isEmpty())
        sum.add(box, Product{a[n].reads(m), b[n].reads(m)});
      else
        sum.add(box, WeightedProduct{a[n].reads(m), b[n].reads(m), level.weights.reads(m)});
    }
  }
  return totalOf(sum.value(), transport);
}

double totalOf(const SolverSystem& system, CellNumbers GridSystem::*of, Summand what, Transport& transport) {
  SumOnBoxes sum(system.levels.front()->boxes.device);
  for (const auto& level : system.levels) {
    const bool isWeighted = !level->weights.isEmpty();
    for (std::size_t m = 0; m < level->boxes.own.size(); ++m) {
      const ReadOnlyField<double> u = (level->system.*of).reads(m);
      sum.add(level->boxes.boxes[level->boxes.own[m]],
              WeightedSummand{u, isWeighted ? level->weights.reads(m) : u, isWeighted, what});
    }
  }
  return totalOf(sum.value(), transport);
}

double volumeOf(const SolverSystem& system, Transport& transport) {
  SystemLevel& first = *system.levels.front();
  // Cells under finer ones have the volume of these.
  if (system.levels.size() > 1 || first.weights.isEmpty()) return static_cast<double>(first.boxes.cells());
  return sumOf(first.boxes, first.weights, transport);
}

}  // namespace tessera
