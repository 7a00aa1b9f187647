#include "scheduler/solvers/solver_system.hpp"

#include <utility>

#include "scheduler/solvers/composite/weighted_loops.hpp"
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

Unknowns SystemLevel::unknowns(std::size_t box) const {
  const bool isWeighted = !weights.isEmpty();
  const CellNumbers& numbers = isWeighted ? weights : system.solution;
  return {isWeighted, numbers.reads(box), boxes.domain.extent()};
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
  const SystemLevel& first = *system.levels.front();
  if (first.weights.isEmpty()) return static_cast<double>(first.boxes.cells());
  SumOnBoxes sum(first.boxes.device);
  for (const auto& level : system.levels) {
    for (std::size_t m = 0; m < level->boxes.own.size(); ++m) {
      const ReadOnlyField<double> weight = level->weights.reads(m);
      sum.add(level->boxes.boxes[level->boxes.own[m]],
              WeightedSummand{weight, weight, false, Summand::Number});
    }
  }
  return totalOf(sum.value(), transport);
}

namespace {

/// Calls `weigh(level, volume of its cells)`; cells under finer ones then have no weight.
template <class Weigh>
void makeWeights(SolverSystem& system, const Weigh& weigh) {
  double volume = 1.0;
  for (std::size_t n = 0; n < system.levels.size(); ++n) {
    SystemLevel& level = *system.levels[n];
    if (n > 0) volume /= system.below(n).refinement().cellsInOne();
    if (level.weights.isEmpty()) level.weights = CellNumbers(level.boxes);
    weigh(level, volume);
  }
  for (std::size_t n = 1; n < system.levels.size(); ++n)
    system.below(n).setUnder(0.0, system.levels[n - 1]->weights);
}

}  // namespace

void joinLevels(SolverSystem& system, Transport& transport) {
  system.joints.clear();
  for (std::size_t n = 1; n < system.levels.size(); ++n) {
    const SystemLevel& level = *system.levels[n];
    system.joints.push_back(std::make_unique<CoarseFine>(system.levels[n - 1]->boxes, level.boxes,
                                                         level.level.ratioToCoarser(), transport));
  }
  makeWeights(system, [](SystemLevel& level, double volume) {
    forEachOwnBox(level.boxes, [&](std::size_t m, const Box& box) {
      solverLoop(level.boxes.device, box, SetCells{volume, level.weights.field(m)});
    });
  });
}

void leaveOutHoles(SolverSystem& system) {
  makeWeights(system, [](SystemLevel& level, double volume) {
    forEachOwnBox(level.boxes, [&](std::size_t m, const Box& box) {
      solverLoop(level.boxes.device, box,
                 LeaveOutHoles{level.system.matrix.fields(m), level.system.rightHandSide.reads(m), volume,
                               level.weights.field(m)});
    });
  });
}

void changeUnknowns(SolverSystem& system, CellNumbers GridSystem::*of, double factor, double a) {
  for (const auto& level : system.levels) {
    forEachOwnBox(level->boxes, [&](std::size_t m, const Box& box) {
      solverLoop(level->boxes.device, box,
                 ChangeUnknowns{level->unknowns(m), factor, a, (level->system.*of).field(m)});
    });
  }
}

}  // namespace tessera
