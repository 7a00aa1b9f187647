#include "scheduler/solvers/multigrid/conjugate_gradients.hpp"

#include <algorithm>
#include <cmath>

#include "scheduler/solvers/loops/solver_loops.hpp"

namespace tessera {
ConjugateGradients::ConjugateGradients(const SolverOptions& options, const SolverSystem& system,
                                       Transport& transport)
    : options_(options),
      boxes_(system.levels.front()->boxes),
      transport_(transport),
      faces_(boxes_, LayerPart::Faces, transport),
      kept_(system, options.setupEvery),
      matrix_(kept_.level(0)),
      preconditioned_(boxes_),
      direction_(boxes_),
      image_(boxes_) {
  if (options.preconditioner == Preconditioner::Multigrid)
    multigrid_ = std::make_unique<Multigrid>(boxes_, system.levels.front()->level.spacing(), transport);
}

void ConjugateGradients::solve(SolverSystem& levels, SolveReport& report) {
  GridSystem& system = levels.coarsest();
  SolverDevice* device = boxes_.device;
  if (device != nullptr) device->begin(SolverDevice::Section::Setup);
  report.madeSetup = kept_.isDue(levels, transport_);
  if (report.madeSetup) {
    matrix_.invert(boxes_);
    if (multigrid_) multigrid_->setUp(matrix_);
  }
  const double enough = std::max(options_.tolerance * levels.scale, options_.absoluteTolerance);
  if (device != nullptr) device->begin(SolverDevice::Section::Start);
  faces_.fill(system.solution);
  forEachOwnBox(boxes_, [&](std::size_t n, const Box& box) {
    const Field<double> f = system.rightHandSide.field(n);
    solverLoop(device, box, residualOf(matrix_.symmetricFields(n), f, system.solution.reads(n), f));
  });
  // What an earlier solve has left there must not show in a bit.
  direction_.fill(0.0);
  iterate(system, report, enough);
  report.residual = levels.scale > 0.0 ? report.residual / levels.scale : report.residual;
}

/// The right-hand side becomes the residual.
void ConjugateGradients::iterate(GridSystem& system, SolveReport& report, double enough) {
  SolverDevice* device = boxes_.device;
  CellNumbers& residual = system.rightHandSide;
  double norm = std::sqrt(dot(residual, residual));
  double before = 0.0;
  while (norm > enough && report.iterations < options_.maxIterations) {
    if (device != nullptr) device->begin(SolverDevice::Section::Iteration);
    precondition(residual, preconditioned_);
    const double now = dot(residual, preconditioned_);
    const double part = before == 0.0 ? 0.0 : now / before;
    forEachOwnBox(boxes_, [&](std::size_t n, const Box& box) {
      solverLoop(device, box, ExtendDirection{part, preconditioned_.reads(n), direction_.field(n)});
    });
    before = now;
    faces_.fill(direction_);
    forEachOwnBox(boxes_, [&](std::size_t n, const Box& box) {
      solverLoop(
          device, box,
          ApplyStencil<SymmetricFields>{matrix_.symmetricFields(n), direction_.reads(n), image_.field(n)});
    });
    const double steepness = dot(direction_, image_);
    if (!(steepness > 0.0) || !(now > 0.0)) break;
    const double length = now / steepness;
    forEachOwnBox(boxes_, [&](std::size_t n, const Box& box) {
      solverLoop(device, box, AddMultiple{length, direction_.reads(n), system.solution.field(n)});
      solverLoop(device, box, AddMultiple{-length, image_.reads(n), residual.field(n)});
    });
    norm = std::sqrt(dot(residual, residual));
    ++report.iterations;
  }
  report.residual = norm;
  report.result = norm <= enough ? SolveReport::Result::Converged : SolveReport::Result::NotConverged;
}

void ConjugateGradients::precondition(CellNumbers& residual, CellNumbers& result) {
  if (multigrid_) return multigrid_->cycle(residual, result);
  forEachOwnBox(boxes_, [&](std::size_t n, const Box& box) {
    if (options_.preconditioner == Preconditioner::Jacobi)
      solverLoop(boxes_.device, box, DivideByDiagonal{matrix_.fields(n), residual.reads(n), result.field(n)});
    else
      solverLoop(boxes_.device, box, CopyCells{1.0, residual.reads(n), result.field(n)});
  });
}

}  // namespace tessera
