#include "scheduler/solvers/linear_solve.hpp"

#include <chrono>

#include "scheduler/solvers/system_check.hpp"

namespace tessera {
namespace {

double secondsSinceStart(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

SolverSystem systemOn(const Hierarchy& hierarchy, const RankMap& owners, Transport& transport) {
  SolverSystem system;
  for (const Level& level : hierarchy.levels())
    system.levels.push_back(std::make_unique<SystemLevel>(level, owners, transport));
  return system;
}

}  // namespace

LinearSolve::LinearSolve(std::string name, const SolverOptions& options, const Hierarchy& hierarchy,
                         const RankMap& owners, Transport& transport)
    : name_(std::move(name)),
      options_(options),
      transport_(transport),
      assembled_(systemOn(hierarchy, owners, transport)),
      solver_(makeLinearSolver(options, assembled_, transport)) {
  for (const auto& level : assembled_.levels)
    layers_.emplace_back(level->boxes, LayerPart::WithSides, transport);
}

SolveReport LinearSolve::run(const LinearSystem& system, DataWarehouse& data, const SystemMoment& moment) {
  const auto start = std::chrono::steady_clock::now();
  SolveReport report;
  for (std::size_t n = 0; n < layers_.size(); ++n) {
    SystemLevel& level = *assembled_.levels[n];
    assemble(system, level.level, data, moment, level.onPatches());
    if (level.patches) level.patches->give(level.system);
    layers_[n].fill(level.system.matrix.sink);
    for (CellNumbers& faces : level.system.matrix.faces) layers_[n].fill(faces);
  }
  SystemCheck check(name_, options_, assembled_, transport_);
  if (check.prepare(system, report)) {
    if (assembled_.scale == 0.0) {
      // Without sources and values on sides the solution is 0, whatever it was before.
      for (const auto& level : assembled_.levels) {
        for (double& u : level->system.solution.all()) u = 0.0;
      }
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

void LinearSolve::fixMean(double mean) {
  const auto cells = static_cast<double>(assembled_.levels.front()->boxes.cells());
  const double now = totalOf(assembled_, &GridSystem::solution, Summand::Number, transport_) / cells;
  for (const auto& level : assembled_.levels) {
    for (std::size_t n = 0; n < level->boxes.own.size(); ++n)
      addConstant(Cpu{}, level->boxes.boxes[level->boxes.own[n]], mean - now,
                  level->system.solution.field(n));
  }
}

}  // namespace tessera
