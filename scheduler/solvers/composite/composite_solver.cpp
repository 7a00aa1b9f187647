#include "scheduler/solvers/composite/composite_solver.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "scheduler/solvers/composite/weighted_loops.hpp"
#include "scheduler/solvers/loops/solver_loops.hpp"

namespace tessera {
CompositeSolver::CompositeSolver(const SolverOptions& options, SolverSystem& system, Transport& transport)
    : options_(options),
      system_(system),
      transport_(transport),
      composite_(system, transport),
      preconditioner_(options, system, composite_, transport),
      f_(system.levels.size()),
      u_(system.levels.size()),
      residual_(numbersOf(system)),
      shadow_(numbersOf(system)),
      direction_(numbersOf(system)),
      image_(numbersOf(system)),
      better_(numbersOf(system)),
      changed_(numbersOf(system)) {}

void CompositeSolver::exchange(SolverSystem& system) {
  for (std::size_t n = 0; n < f_.size(); ++n) {
    std::swap(f_[n], system.levels[n]->system.rightHandSide);
    std::swap(u_[n], system.levels[n]->system.solution);
  }
}

void CompositeSolver::solve(SolverSystem& system, SolveReport& report) {
  SolverDevice* device = system.levels.front()->boxes.device;
  if (device != nullptr) device->begin(SolverDevice::Section::Setup);
  report.madeSetup = preconditioner_.setUp(transport_);
  composite_.prepare();
  exchange(system);
  const double enough = std::max(options_.tolerance * system.scale, options_.absoluteTolerance);
  double norm = 0.0;
  for (std::int64_t before = -1;;) {
    if (device != nullptr) device->begin(SolverDevice::Section::Start);
    composite_.residual(f_, u_, residual_);
    norm = std::sqrt(dot(residual_, residual_));
    const bool goesOn = report.iterations < options_.maxIterations && report.iterations > before;
    if (norm <= enough || !goesOn) break;
    before = report.iterations;
    iterate(report, enough);
  }
  report.residual = system.scale > 0.0 ? norm / system.scale : norm;
  report.result = norm <= enough ? SolveReport::Result::Converged : SolveReport::Result::NotConverged;
  if (report.result == SolveReport::Result::NotConverged) f_.swap(residual_);
  exchange(system);
}

void CompositeSolver::iterate(SolveReport& report, double enough) {
  // What an earlier solve has left there must not show in a bit.
  for (LevelNumbers* numbers : {&direction_, &image_}) {
    for (CellNumbers& level : *numbers) level.fill(0.0);
  }
  for (std::size_t n = 0; n < shadow_.size(); ++n) shadow_[n].takeOver(residual_[n]);
  double before = 1.0;
  double along = 1.0;
  double omega = 1.0;
  SolverDevice* device = system_.levels.front()->boxes.device;
  while (report.iterations < options_.maxIterations) {
    if (device != nullptr) device->begin(SolverDevice::Section::Iteration);
    const double now = dot(shadow_, residual_);
    if (!(std::abs(now) > 0.0)) return;
    const double part = (now / before) * (along / omega);
    forEachLevelBox(system_, [&](std::size_t n, std::size_t m, const Box& box) {
      solverLoop(
          system_.levels[n]->boxes.device, box,
          NextDirection{part, omega, residual_[n].reads(m), image_[n].reads(m), direction_[n].field(m)});
    });
    preconditioner_.cycle(direction_, better_);
    composite_.apply(better_, image_);
    const double steepness = dot(shadow_, image_);
    if (!(std::abs(steepness) > 0.0)) return;
    ++report.iterations;
    along = now / steepness;
    stepAlong(image_, along);
    if (std::sqrt(dot(residual_, residual_)) <= enough) return;

    preconditioner_.cycle(residual_, better_);
    composite_.apply(better_, changed_);
    const double square = dot(changed_, changed_);
    if (!(square > 0.0)) return;
    omega = dot(changed_, residual_) / square;
    stepAlong(changed_, omega);
    before = now;
    if (!(std::sqrt(dot(residual_, residual_)) > enough) || omega == 0.0) return;
  }
}

void CompositeSolver::stepAlong(LevelNumbers& image, double length) {
  forEachLevelBox(system_, [&](std::size_t n, std::size_t m, const Box& box) {
    SolverDevice* device = system_.levels[n]->boxes.device;
    solverLoop(device, box, AddMultiple{length, better_[n].reads(m), u_[n].field(m)});
    solverLoop(device, box, AddMultiple{-length, image[n].reads(m), residual_[n].field(m)});
  });
}

}  // namespace tessera
