#include "scheduler/solvers/linear_solve.hpp"

#include <chrono>

#include "core/text/error.hpp"
#include "scheduler/solvers/system_check.hpp"

namespace tessera {
namespace {

double secondsSinceStart(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

SolverSystem systemOn(const Hierarchy& hierarchy, const RankMap& owners, MatrixKind kind,
                      Transport& transport) {
  SolverSystem system;
  for (const Level& level : hierarchy.levels())
    system.levels.push_back(std::make_unique<SystemLevel>(level, owners, transport, kind));
  return system;
}

void requireOneLevel(const std::string& name, const LinearSystem& system, const Hierarchy& hierarchy) {
  if (hierarchy.levels().size() == 1 || !(system.flow || system.holes)) return;
  throw DeckError(Message(system.flow ? "a linear system with a velocity is solved on one level only"
                                      : "a linear system with solid cells is solved on one level only")
                      .line("solve   ", name)
                      .line("levels  ", hierarchy.levels().size())
                      .line("fix     remove [[grid.level]] and [amr]")
                      .text());
}

}  // namespace

LinearSolve::LinearSolve(std::string name, const LinearSystem& system, const SolverOptions& options,
                         const Hierarchy& hierarchy, const RankMap& owners, Transport& transport)
    : name_(std::move(name)),
      options_(options),
      transport_(transport),
      assembled_(
          systemOn(hierarchy, owners, system.flow ? MatrixKind::General : MatrixKind::Symmetric, transport)) {
  requireOneLevel(name_, system, hierarchy);
  solver_ = makeLinearSolver(options, assembled_, transport);
  if (system.holes) holes_ = std::make_unique<Holes>(assembled_.levels.front()->boxes, transport);
  for (const auto& level : assembled_.levels)
    layers_.emplace_back(level->boxes, LayerPart::WithSides, transport);
}

SolveReport LinearSolve::run(const LinearSystem& system, DataWarehouse& data, const SystemMoment& moment) {
  const auto start = std::chrono::steady_clock::now();
  SolveReport report;
  assembleAll(system, data, moment);
  SystemCheck check(name_, options_, assembled_, transport_);
  if (check.prepare(system, report)) {
    if (assembled_.scale == 0.0) {
      // Without sources and values on sides the solution is 0, whatever it was before.
      setToZero();
    } else {
      solver_->solve(assembled_, report);
    }
    if (report.result != SolveReport::Result::Converged) report.failure = check.notConverged(report);
    if (assembled_.isSingular) fixMean(system.mean);
    for (const auto& level : assembled_.levels) {
      if (level->patches) level->patches->take(level->system);
      storeSolution(system, level->level, data, level->onPatches());
    }
  }
  report.seconds = secondsSinceStart(start);
  return report;
}

void LinearSolve::assembleAll(const LinearSystem& system, DataWarehouse& data, const SystemMoment& moment) {
  for (std::size_t n = 0; n < layers_.size(); ++n) {
    SystemLevel& level = *assembled_.levels[n];
    assemble(system, level.level, data, moment, level.onPatches());
    if (level.patches) level.patches->give(level.system);
    if (holes_) {
      assemble(system.holes->open, Generation::New, level.level, data, level.boxes, holes_->open());
      holes_->cut(system.holes->faces, level);
    }
    level.system.matrix.forEachNumbers([&](CellNumbers& numbers) { layers_[n].fill(numbers); });
  }
}

void LinearSolve::setToZero() {
  if (holes_) return holes_->clearInSystem(assembled_.coarsest().solution);
  for (const auto& level : assembled_.levels) {
    for (double& u : level->system.solution.all()) u = 0.0;
  }
}

void LinearSolve::fixMean(double mean) {
  const double now = totalOf(assembled_, &GridSystem::solution, Summand::Number, transport_) /
                     volumeOf(assembled_, transport_);
  if (holes_) return holes_->addInSystem(mean - now, assembled_.coarsest().solution);
  for (const auto& level : assembled_.levels) {
    for (std::size_t n = 0; n < level->boxes.own.size(); ++n)
      addConstant(Cpu{}, level->boxes.boxes[level->boxes.own[n]], mean - now,
                  level->system.solution.field(n));
  }
}

}  // namespace tessera
