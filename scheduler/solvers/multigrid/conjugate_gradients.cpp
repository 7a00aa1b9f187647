#include "scheduler/solvers/multigrid/conjugate_gradients.hpp"

#include <algorithm>
#include <cmath>

namespace tessera {
ConjugateGradients::ConjugateGradients(const SolverOptions& options, const GridBoxes& boxes, Real3 spacing,
                                       Transport& transport)
    : options_(options),
      boxes_(boxes),
      transport_(transport),
      faces_(boxes, LayerPart::Faces, transport),
      matrix_(boxes),
      preconditioned_(boxes),
      direction_(boxes),
      image_(boxes) {
  if (options.preconditioner == Preconditioner::Multigrid)
    multigrid_ = std::make_unique<Multigrid>(boxes, spacing, transport);
}

template <class Work>
void ConjugateGradients::onBoxes(const Work& work) {
  for (std::size_t n = 0; n < boxes_.own.size(); ++n) work(n, boxes_.boxes[boxes_.own[n]]);
}

bool ConjugateGradients::setUp(const GridMatrix& matrix) {
  const bool isOld = options_.setupEvery > 0 && solvesOfSetup_ >= options_.setupEvery;
  const bool changes = !hasSetup_ || isOld || !sameMatrix(matrix_, matrix);
  if (largestOfAll(changes ? 1.0 : 0.0, transport_) == 0.0) return false;
  matrix_.takeOver(matrix);
  matrix_.invert(boxes_);
  if (multigrid_) multigrid_->setUp(matrix_);
  solvesOfSetup_ = 0;
  hasSetup_ = true;
  return true;
}

void ConjugateGradients::solve(SolverSystem& levels, SolveReport& report) {
  GridSystem& system = levels.coarsest();
  report.madeSetup = setUp(system.matrix);
  ++solvesOfSetup_;
  const double enough = std::max(options_.tolerance * levels.scale, options_.absoluteTolerance);
  faces_.fill(system.solution);
  onBoxes([&](std::size_t n, const Box& box) {
    const Field<double> f = system.rightHandSide.field(n);
    stencilResidual(Cpu{}, box, matrix_.fields(n), f, system.solution.field(n), f);
  });
  iterate(system, report, enough);
  report.residual = levels.scale > 0.0 ? report.residual / levels.scale : report.residual;
}

/// The right-hand side becomes the residual.
void ConjugateGradients::iterate(GridSystem& system, SolveReport& report, double enough) {
  CellNumbers& residual = system.rightHandSide;
  // What an earlier solve has left there must not show in a bit.
  std::fill(direction_.all().begin(), direction_.all().end(), 0.0);
  double norm = std::sqrt(dot(residual, residual));
  double before = 0.0;
  while (norm > enough && report.iterations < options_.maxIterations) {
    precondition(residual, preconditioned_);
    const double now = dot(residual, preconditioned_);
    const double part = before == 0.0 ? 0.0 : now / before;
    onBoxes([&](std::size_t n, const Box& box) {
      extendDirection(Cpu{}, box, part, preconditioned_.field(n), direction_.field(n));
    });
    before = now;
    faces_.fill(direction_);
    onBoxes([&](std::size_t n, const Box& box) {
      applyStencil(Cpu{}, box, matrix_.fields(n), direction_.field(n), image_.field(n));
    });
    const double steepness = dot(direction_, image_);
    if (!(steepness > 0.0) || !(now > 0.0)) break;
    const double length = now / steepness;
    onBoxes([&](std::size_t n, const Box& box) {
      addMultiple(Cpu{}, box, length, direction_.field(n), system.solution.field(n));
      addMultiple(Cpu{}, box, -length, image_.field(n), residual.field(n));
    });
    norm = std::sqrt(dot(residual, residual));
    ++report.iterations;
  }
  report.residual = norm;
  report.result = norm <= enough ? SolveReport::Result::Converged : SolveReport::Result::NotConverged;
}

void ConjugateGradients::precondition(CellNumbers& residual, CellNumbers& result) {
  if (multigrid_) return multigrid_->cycle(residual, result);
  onBoxes([&](std::size_t n, const Box& box) {
    if (options_.preconditioner == Preconditioner::Jacobi) {
      divideByDiagonal(Cpu{}, box, matrix_.fields(n), residual.field(n), result.field(n));
    } else {
      copyCells(Cpu{}, box, 1.0, residual.field(n), result.field(n));
    }
  });
}

}  // namespace tessera
