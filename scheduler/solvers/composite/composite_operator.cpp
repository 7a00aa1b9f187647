#include "scheduler/solvers/composite/composite_operator.hpp"

#include "scheduler/solvers/composite/weighted_loops.hpp"
#include "scheduler/solvers/loops/solver_loops.hpp"

namespace tessera {
LevelNumbers numbersOf(const SolverSystem& system) {
  LevelNumbers numbers;
  for (const auto& level : system.levels) numbers.emplace_back(level->boxes);
  return numbers;
}

CompositeOperator::CompositeOperator(SolverSystem& system, Transport& transport)
    : system_(system), cells_(numbersOf(system)) {
  joinLevels(system, transport);
  for (const auto& level : system.levels)
    faces_.push_back(std::make_unique<LayerExchange>(level->boxes, LayerPart::Faces, transport));
}

void CompositeOperator::prepare() {
  forEachLevelBox(system_, [&](std::size_t n, std::size_t m, const Box& box) {
    SystemLevel& level = *system_.levels[n];
    solverLoop(level.boxes.device, box, HasEntries{level.system.matrix.fields(m), cells_[n].field(m)});
  });
  averageDown(cells_);
  for (std::size_t n = 1; n < levels(); ++n) below(n).takeCells(cells_[n - 1]);
  for (std::size_t n = 1; n < levels(); ++n) below(n).closeFaces(system_.levels[n - 1]->system.matrix);
}

void CompositeOperator::averageDown(LevelNumbers& u) {
  for (std::size_t n = levels() - 1; n > 0; --n) below(n).averageDown(u[n], u[n - 1]);
}

void CompositeOperator::fillLayers(LevelNumbers& u) {
  averageDown(u);
  for (std::size_t n = 0; n < levels(); ++n) {
    faces_[n]->fill(u[n]);
    if (n == 0) continue;
    below(n).takeCoarse(u[n - 1]);
    below(n).interpolateLayer(u[n], cells_[n]);
  }
}

void CompositeOperator::apply(LevelNumbers& u, LevelNumbers& result) {
  fillLayers(u);
  forEachLevelBox(system_, [&](std::size_t n, std::size_t m, const Box& box) {
    SystemLevel& level = *system_.levels[n];
    solverLoop(level.boxes.device, box,
               WeightedRows{level.system.matrix.fields(m), level.weights.reads(m), u[n].reads(m),
                            result[n].field(m)});
  });
  for (std::size_t n = levels() - 1; n > 0; --n)
    below(n).addFluxes(system_.levels[n]->system.matrix, u[n], 1.0, result[n - 1]);
}

void CompositeOperator::residual(LevelNumbers& f, LevelNumbers& u, LevelNumbers& rows) {
  fillLayers(u);
  forEachLevelBox(system_, [&](std::size_t n, std::size_t m, const Box& box) {
    SystemLevel& level = *system_.levels[n];
    solverLoop(level.boxes.device, box,
               WeightedResidual{level.system.matrix.fields(m), level.weights.reads(m), f[n].field(m),
                                u[n].reads(m), rows[n].field(m)});
  });
  for (std::size_t n = levels() - 1; n > 0; --n)
    below(n).addFluxes(system_.levels[n]->system.matrix, u[n], -1.0, rows[n - 1]);
}

}  // namespace tessera
