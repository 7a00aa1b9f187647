#include "scheduler/solvers/solver_system.hpp"

#include <utility>

#include "core/exec/exec.hpp"
#include "scheduler/solvers/exact_totals.hpp"

namespace tessera {
namespace {

/// What a sum adds for a number.
TESSERA_KERNEL double summandOf(double number, Summand what) {
  if (what == Summand::Square) return number * number;
  return what == Summand::Amount && number < 0.0 ? -number : number;
}

GridBoxes boxesOn(const Level& level, const RankMap& owners, Rank rank) {
  const GridBoxes grid = gridBoxes(level, owners, rank);
  return areAligned(grid, level.ratioToCoarser()) ? grid : aligned(grid, level.ratioToCoarser(), rank);
}

}  // namespace

SystemLevel::SystemLevel(const Level& of, const RankMap& owners, Transport& transport, MatrixKind kind)
    : level(of), boxes(boxesOn(of, owners, transport.rank())), system(boxes, kind) {
  GridBoxes ofPatches = gridBoxes(of, owners, transport.rank());
  if (!areAligned(ofPatches, of.ratioToCoarser()))
    patches = std::make_unique<PatchBoxes>(std::move(ofPatches), boxes, transport);
}

double dotOf(const SolverSystem& system, LevelNumbers& a, LevelNumbers& b, Transport& transport) {
  ExactSum sum;
  for (std::size_t n = 0; n < a.size(); ++n) {
    SystemLevel& level = *system.levels[n];
    const bool isWeighted = !level.weights.all().empty();
    for (std::size_t m = 0; m < level.boxes.own.size(); ++m) {
      const Field<double> u = a[n].field(m);
      const Field<double> v = b[n].field(m);
      const Field<double> w = isWeighted ? level.weights.field(m) : u;
      sum.add(reduce(Cpu{}, "Solver::dot", level.boxes.boxes[level.boxes.own[m]], Sum,
                     [=] TESSERA_KERNEL(Index x) { return (isWeighted ? w(x) : 1.0) * (u(x) * v(x)); }));
    }
  }
  return totalOf(sum, transport);
}

double totalOf(const SolverSystem& system, CellNumbers GridSystem::*of, Summand what, Transport& transport) {
  ExactSum sum;
  for (const auto& level : system.levels) {
    const bool isWeighted = !level->weights.all().empty();
    for (std::size_t m = 0; m < level->boxes.own.size(); ++m) {
      const Field<double> u = (level->system.*of).field(m);
      const Field<double> w = isWeighted ? level->weights.field(m) : u;
      sum.add(
          reduce(Cpu{}, "Solver::sum", level->boxes.boxes[level->boxes.own[m]], Sum,
                 [=] TESSERA_KERNEL(Index x) { return (isWeighted ? w(x) : 1.0) * summandOf(u(x), what); }));
    }
  }
  return totalOf(sum, transport);
}

double volumeOf(const SolverSystem& system, Transport& transport) {
  SystemLevel& first = *system.levels.front();
  // Cells under finer ones have the volume of these.
  if (system.levels.size() > 1 || first.weights.all().empty())
    return static_cast<double>(first.boxes.cells());
  return sumOf(first.boxes, first.weights, transport);
}

}  // namespace tessera
