#include "scheduler/solvers/hypre/hypre_struct.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/exec/exec.hpp"
#include "core/text/error.hpp"
#include "scheduler/solvers/exact_totals.hpp"
#include "scheduler/solvers/hypre/hypre_calls.hpp"
#include "scheduler/solvers/loops/solver_loops.hpp"

#if defined(TESSERA_HAVE_HYPRE)
#include <HYPRE_struct_ls.h>

#include <mpi.h>
#endif

namespace tessera {

#if defined(TESSERA_HAVE_HYPRE)

namespace {

constexpr int kEntries = 7;

template <class Visit>
void forEachCell(const Box& box, const Visit& visit) {
  detail::forEachInOrder(box, visit);
}

/// Calls `visit(own box number, slab)` for slabs of own boxes, thin enough that what we copy to hypre is
/// still in a cache when it copies that.
template <class Visit>
void forEachSlab(const GridBoxes& grid, const Visit& visit) {
  constexpr std::int64_t kCells = 16384;
  for (std::size_t n = 0; n < grid.own.size(); ++n) {
    const Box& box = grid.boxes[grid.own[n]];
    if (!box.empty()) detail::forEachPart(box, kCells, [&](const Box& slab) { visit(n, slab); });
  }
}

}  // namespace

/// What hypre has of ours; freed in the reverse order.
struct HypreStruct::Objects {
  explicit Objects(const Transport& transport) : ranks(transport) {}
  const HypreRanks ranks;
  const MPI_Comm communicator = MPI_Comm_f2c(ranks.handle());
  HYPRE_StructGrid grid = nullptr;
  HYPRE_StructStencil stencil = nullptr;
  HYPRE_StructMatrix matrix = nullptr;
  HYPRE_StructVector rightHandSide = nullptr;
  HYPRE_StructVector solution = nullptr;
  HYPRE_StructSolver solver = nullptr;
  HYPRE_StructSolver preconditioner = nullptr;
  SolverMethod method = SolverMethod::Cg;
  Preconditioner kind = Preconditioner::Multigrid;
  std::vector<double> numbers;
  bool hasHoles = false;  ///< in the matrix, on this rank

  void freeSolvers() {
    if (solver != nullptr) {
      if (method == SolverMethod::Cg) HYPRE_StructPCGDestroy(solver);
      if (method == SolverMethod::Gmres) HYPRE_StructGMRESDestroy(solver);
      if (method == SolverMethod::BiCgStab) HYPRE_StructBiCGSTABDestroy(solver);
    }
    if (preconditioner != nullptr) {
      if (kind == Preconditioner::Multigrid) HYPRE_StructPFMGDestroy(preconditioner);
      if (kind == Preconditioner::Smg) HYPRE_StructSMGDestroy(preconditioner);
      if (kind == Preconditioner::Jacobi) HYPRE_StructJacobiDestroy(preconditioner);
    }
    solver = preconditioner = nullptr;
  }
  ~Objects() {
    freeSolvers();
    if (solution != nullptr) HYPRE_StructVectorDestroy(solution);
    if (rightHandSide != nullptr) HYPRE_StructVectorDestroy(rightHandSide);
    if (matrix != nullptr) HYPRE_StructMatrixDestroy(matrix);
    if (stencil != nullptr) HYPRE_StructStencilDestroy(stencil);
    if (grid != nullptr) HYPRE_StructGridDestroy(grid);
  }

  void makeGrid(const GridBoxes& boxes) {
    HYPRE_StructGridCreate(communicator, kAxes, &grid);
    for (const std::size_t n : boxes.own) {
      Corners at(boxes.boxes[n]);
      if (!boxes.boxes[n].empty()) HYPRE_StructGridSetExtents(grid, at.lower, at.upper);
    }
    HYPRE_Int periods[kAxes];
    for (int d = 0; d < kAxes; ++d) {
      periods[d] =
          boxes.wraps[static_cast<std::size_t>(d)] ? static_cast<HYPRE_Int>(boxes.domain.extent()[d]) : 0;
    }
    HYPRE_StructGridSetPeriodic(grid, periods);
    checkHypre(HYPRE_StructGridAssemble(grid), "the grid");
    HYPRE_StructStencilCreate(kAxes, kEntries, &stencil);
    HYPRE_Int offsets[kEntries][kAxes] = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0},
                                          {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    for (HYPRE_Int entry = 0; entry < kEntries; ++entry)
      HYPRE_StructStencilSetElement(stencil, entry, offsets[entry]);
    HYPRE_StructVectorCreate(communicator, grid, &rightHandSide);
    HYPRE_StructVectorInitialize(rightHandSide);
    HYPRE_StructVectorCreate(communicator, grid, &solution);
    checkHypre(HYPRE_StructVectorInitialize(solution), "the vectors");
  }

  struct Corners {
    explicit Corners(const Box& box) {
      for (int d = 0; d < kAxes; ++d) {
        lower[d] = static_cast<HYPRE_Int>(box.lo[d]);
        upper[d] = static_cast<HYPRE_Int>(box.hi[d] - 1);
      }
    }
    HYPRE_Int lower[kAxes];
    HYPRE_Int upper[kAxes];
  };

  void setMatrix(const GridBoxes& boxes, GridMatrix& from) {
    hasHoles = false;
    if (matrix != nullptr) HYPRE_StructMatrixDestroy(matrix);
    HYPRE_StructMatrixCreate(communicator, grid, stencil, &matrix);
    HYPRE_StructMatrixInitialize(matrix);
    HYPRE_Int entries[kEntries] = {0, 1, 2, 3, 4, 5, 6};
    forEachSlab(boxes, [&](std::size_t n, const Box& slab) {
      const StencilFields A = from.fields(n);
      numbers.resize(static_cast<std::size_t>(kEntries * slab.volume()));
      double* out = numbers.data();
      const auto put = [&](double k, bool isCell) { *out++ = isCell ? -k : 0.0; };
      const auto hasLower = [&](Index x, int axis) {
        return x[axis] > 0 || boxes.wraps[static_cast<std::size_t>(axis)];
      };
      const auto hasUpper = [&](Index x, int axis) {
        return x[axis] + 1 < boxes.domain.hi[axis] || boxes.wraps[static_cast<std::size_t>(axis)];
      };
      forEachCell(slab, [&](Index x) {
        // A hole's row has no entries: hypre gets 1 there, and 0 on the right.
        const double diagonal = A.diagonal(x);
        hasHoles = hasHoles || !(diagonal > 0.0);
        *out++ = diagonal > 0.0 ? diagonal : 1.0;
        put(A.kx(x), hasLower(x, 0));
        put(A.belowX(x + ex), hasUpper(x, 0));
        put(A.ky(x), hasLower(x, 1));
        put(A.belowY(x + ey), hasUpper(x, 1));
        put(A.kz(x), hasLower(x, 2));
        put(A.belowZ(x + ez), hasUpper(x, 2));
      });
      Corners at(slab);
      HYPRE_StructMatrixSetBoxValues(matrix, at.lower, at.upper, kEntries, entries, numbers.data());
    });
    checkHypre(HYPRE_StructMatrixAssemble(matrix), "the matrix");
  }

  /// With 0 in holes of the matrix.
  void setVector(const GridBoxes& boxes, GridMatrix& of, CellNumbers& from, HYPRE_StructVector vector) {
    forEachSlab(boxes, [&](std::size_t n, const Box& slab) {
      const Field<double> u = from.field(n);
      const StencilFields A = of.fields(n);
      numbers.resize(static_cast<std::size_t>(slab.volume()));
      double* out = numbers.data();
      if (hasHoles) {
        forEachCell(slab, [&](Index x) { *out++ = A.diagonal(x) > 0.0 ? u(x) : 0.0; });
      } else {
        forEachCell(slab, [&](Index x) { *out++ = u(x); });
      }
      Corners at(slab);
      HYPRE_StructVectorSetBoxValues(vector, at.lower, at.upper, numbers.data());
    });
    checkHypre(HYPRE_StructVectorAssemble(vector), "a vector");
  }

  /// What is in holes of the matrix stays.
  void takeSolution(const GridBoxes& boxes, GridMatrix& of, CellNumbers& to) {
    forEachSlab(boxes, [&](std::size_t n, const Box& slab) {
      numbers.resize(static_cast<std::size_t>(slab.volume()));
      Corners at(slab);
      HYPRE_StructVectorGetBoxValues(solution, at.lower, at.upper, numbers.data());
      const Field<double> u = to.field(n);
      const StencilFields A = of.fields(n);
      const double* in = numbers.data();
      if (hasHoles) {
        forEachCell(slab, [&](Index x) {
          u(x) = A.diagonal(x) > 0.0 ? *in : u(x);
          ++in;
        });
      } else {
        forEachCell(slab, [&](Index x) { u(x) = *in++; });
      }
    });
  }

  /// The preconditioner: one cycle, or one sweep, from zero.
  void makePreconditioner() {
    if (kind == Preconditioner::Multigrid) {
      HYPRE_StructPFMGCreate(communicator, &preconditioner);
      HYPRE_StructPFMGSetMaxIter(preconditioner, 1);
      HYPRE_StructPFMGSetTol(preconditioner, 0.0);
      HYPRE_StructPFMGSetZeroGuess(preconditioner);
      // Weighted Jacobi: with sweeps in two colours a kept set-up has other bits than a fresh one, and GMRES
      // stalls.
      HYPRE_StructPFMGSetRelaxType(preconditioner, 1);
      HYPRE_StructPFMGSetNumPreRelax(preconditioner, 1);
      HYPRE_StructPFMGSetNumPostRelax(preconditioner, 1);
    } else if (kind == Preconditioner::Smg) {
      HYPRE_StructSMGCreate(communicator, &preconditioner);
      HYPRE_StructSMGSetMaxIter(preconditioner, 1);
      HYPRE_StructSMGSetTol(preconditioner, 0.0);
      HYPRE_StructSMGSetZeroGuess(preconditioner);
    } else if (kind == Preconditioner::Jacobi) {
      HYPRE_StructJacobiCreate(communicator, &preconditioner);
      HYPRE_StructJacobiSetMaxIter(preconditioner, 2);
      HYPRE_StructJacobiSetTol(preconditioner, 0.0);
      HYPRE_StructJacobiSetZeroGuess(preconditioner);
    }
  }

  HYPRE_PtrToStructSolverFcn solveOf() const {
    if (kind == Preconditioner::Multigrid) return HYPRE_StructPFMGSolve;
    if (kind == Preconditioner::Smg) return HYPRE_StructSMGSolve;
    return HYPRE_StructJacobiSolve;
  }
  HYPRE_PtrToStructSolverFcn setupOf() const {
    if (kind == Preconditioner::Multigrid) return HYPRE_StructPFMGSetup;
    if (kind == Preconditioner::Smg) return HYPRE_StructSMGSetup;
    return HYPRE_StructJacobiSetup;
  }

  void makeSolver() {
    freeSolvers();
    makePreconditioner();
    const bool has = preconditioner != nullptr;
    if (method == SolverMethod::Cg) {
      HYPRE_StructPCGCreate(communicator, &solver);
      HYPRE_StructPCGSetTwoNorm(solver, 1);
      if (has) HYPRE_StructPCGSetPrecond(solver, solveOf(), setupOf(), preconditioner);
      checkHypre(HYPRE_StructPCGSetup(solver, matrix, rightHandSide, solution), "the set-up of PCG");
    } else if (method == SolverMethod::Gmres) {
      HYPRE_StructGMRESCreate(communicator, &solver);
      if (has) HYPRE_StructGMRESSetPrecond(solver, solveOf(), setupOf(), preconditioner);
      checkHypre(HYPRE_StructGMRESSetup(solver, matrix, rightHandSide, solution), "the set-up of GMRES");
    } else {
      HYPRE_StructBiCGSTABCreate(communicator, &solver);
      if (has) HYPRE_StructBiCGSTABSetPrecond(solver, solveOf(), setupOf(), preconditioner);
      checkHypre(HYPRE_StructBiCGSTABSetup(solver, matrix, rightHandSide, solution),
                 "the set-up of BiCGSTAB");
    }
  }

  /// The number of iterations.
  std::int64_t solve(double tolerance, HYPRE_Int most) {
    HYPRE_Int iterations = 0;
    if (method == SolverMethod::Cg) {
      HYPRE_StructPCGSetTol(solver, tolerance);
      HYPRE_StructPCGSetMaxIter(solver, most);
      checkHypre(HYPRE_StructPCGSolve(solver, matrix, rightHandSide, solution), "PCG");
      HYPRE_StructPCGGetNumIterations(solver, &iterations);
    } else if (method == SolverMethod::Gmres) {
      HYPRE_StructGMRESSetTol(solver, tolerance);
      HYPRE_StructGMRESSetMaxIter(solver, most);
      checkHypre(HYPRE_StructGMRESSolve(solver, matrix, rightHandSide, solution), "GMRES");
      HYPRE_StructGMRESGetNumIterations(solver, &iterations);
    } else {
      HYPRE_StructBiCGSTABSetTol(solver, tolerance);
      HYPRE_StructBiCGSTABSetMaxIter(solver, most);
      checkHypre(HYPRE_StructBiCGSTABSolve(solver, matrix, rightHandSide, solution), "BiCGSTAB");
      HYPRE_StructBiCGSTABGetNumIterations(solver, &iterations);
    }
    return iterations;
  }
};

HypreStruct::HypreStruct(const SolverOptions& options, const SolverSystem& system, Transport& transport)
    : options_(options),
      boxes_(system.levels.front()->boxes),
      transport_(transport),
      faces_(boxes_, LayerPart::Faces, transport),
      kept_(system, options.setupEvery),
      objects_(std::make_unique<Objects>(transport)) {
  for (const std::size_t n : boxes_.own) {
    if (boxes_.boxes[n].volume() < std::numeric_limits<HYPRE_Int>::max() / kEntries) continue;
    throw DeckError(Message("a rank has more cells than hypre counts in one box")
                        .line("cells  ", boxes_.boxes[n].volume(), ", at most ",
                              std::numeric_limits<HYPRE_Int>::max() / kEntries)
                        .line("fix    take more ranks, or solver.library = \"own\"")
                        .text());
  }
  const bool isGeneral = system.kind() == MatrixKind::General;
  objects_->method =
      isGeneral && options.method == SolverMethod::Cg ? SolverMethod::BiCgStab : options.method;
  objects_->kind = options.preconditioner;
  objects_->makeGrid(boxes_);
}

HypreStruct::~HypreStruct() = default;

void HypreStruct::solve(SolverSystem& levels, SolveReport& report) {
  GridSystem& system = levels.coarsest();
  report.madeSetup = kept_.isDue(levels, transport_);
  if (report.madeSetup) objects_->setMatrix(boxes_, kept_.level(0));
  objects_->setVector(boxes_, system.matrix, system.rightHandSide, objects_->rightHandSide);
  objects_->setVector(boxes_, system.matrix, system.solution, objects_->solution);
  if (report.madeSetup) objects_->makeSolver();
  const double enough = std::max(options_.tolerance * levels.scale, options_.absoluteTolerance);
  // The scale is that of a right-hand side that nothing was taken from since.
  const double norm = levels.isSingular
                          ? std::sqrt(dotOf(boxes_, system.rightHandSide, system.rightHandSide, transport_))
                          : levels.scale;
  const auto most = static_cast<HYPRE_Int>(
      std::min<std::int64_t>(options_.maxIterations, std::numeric_limits<HYPRE_Int>::max()));
  // What rounding makes of its residual and ours shall not decide.
  constexpr double kSafety = 0.9;
  report.iterations = objects_->solve(norm > 0.0 ? kSafety * enough / norm : 1.0, most);
  objects_->takeSolution(boxes_, system.matrix, system.solution);
  findResidual(system, report, enough);
  report.residual = levels.scale > 0.0 ? report.residual / levels.scale : report.residual;
}

void HypreStruct::findResidual(GridSystem& system, SolveReport& report, double enough) {
  faces_.fill(system.solution);
  for (std::size_t n = 0; n < boxes_.own.size(); ++n) {
    const Field<double> f = system.rightHandSide.field(n);
    solverLoop(nullptr, boxes_.boxes[boxes_.own[n]],
               residualOf(kept_.level(0).fields(n), f, system.solution.reads(n), f));
  }
  const double norm = std::sqrt(dotOf(boxes_, system.rightHandSide, system.rightHandSide, transport_));
  report.residual = norm;
  report.result = norm <= enough ? SolveReport::Result::Converged : SolveReport::Result::NotConverged;
}

#else

struct HypreStruct::Objects {};

HypreStruct::HypreStruct(const SolverOptions& options, const SolverSystem& system, Transport& transport)
    : options_(options),
      boxes_(system.levels.front()->boxes),
      transport_(transport),
      faces_(boxes_, LayerPart::Faces, transport),
      kept_(system, options.setupEvery) {
  throwWithoutHypre();
}

HypreStruct::~HypreStruct() = default;

void HypreStruct::solve(SolverSystem&, SolveReport&) {}

#endif

}  // namespace tessera
