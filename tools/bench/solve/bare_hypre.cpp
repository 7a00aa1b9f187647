#include "tools/bench/solve/bare_hypre.hpp"

#include "core/text/error.hpp"

#if defined(TESSERA_HAVE_HYPRE)
#include <HYPRE_struct_ls.h>

#include <mpi.h>

namespace tessera::bench {
namespace {

constexpr int kEntries = 7;

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

}  // namespace

struct BareHypre::Objects {
  HYPRE_StructGrid grid = nullptr;
  HYPRE_StructStencil stencil = nullptr;
  HYPRE_StructMatrix matrix = nullptr;
  HYPRE_StructVector f = nullptr, u = nullptr;
  HYPRE_StructSolver solver = nullptr, preconditioner = nullptr;

  explicit Objects(const std::vector<Part>& parts) {
    HYPRE_Initialize();
    HYPRE_StructGridCreate(MPI_COMM_WORLD, kAxes, &grid);
    for (const Part& part : parts) {
      Corners at(part.cells);
      HYPRE_StructGridSetExtents(grid, at.lower, at.upper);
    }
    HYPRE_StructGridAssemble(grid);
    HYPRE_StructStencilCreate(kAxes, kEntries, &stencil);
    HYPRE_Int offsets[kEntries][kAxes] = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0},
                                          {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    for (HYPRE_Int n = 0; n < kEntries; ++n) HYPRE_StructStencilSetElement(stencil, n, offsets[n]);
    HYPRE_StructVectorCreate(MPI_COMM_WORLD, grid, &f);
    HYPRE_StructVectorInitialize(f);
    HYPRE_StructVectorCreate(MPI_COMM_WORLD, grid, &u);
    HYPRE_StructVectorInitialize(u);
  }
  ~Objects() {
    if (solver != nullptr) HYPRE_StructPCGDestroy(solver);
    if (preconditioner != nullptr) HYPRE_StructPFMGDestroy(preconditioner);
    if (matrix != nullptr) HYPRE_StructMatrixDestroy(matrix);
    HYPRE_StructVectorDestroy(u);
    HYPRE_StructVectorDestroy(f);
    HYPRE_StructStencilDestroy(stencil);
    HYPRE_StructGridDestroy(grid);
  }
  void put(std::vector<Part>& parts) {
    for (Part& part : parts) {
      Corners at(part.cells);
      HYPRE_StructVectorSetBoxValues(f, at.lower, at.upper, part.rightHandSide.data());
      HYPRE_StructVectorSetBoxValues(u, at.lower, at.upper, part.solution.data());
    }
    HYPRE_StructVectorAssemble(f);
    HYPRE_StructVectorAssemble(u);
  }
};

BareHypre::BareHypre(std::vector<Part> parts)
    : parts_(std::move(parts)), objects_(std::make_unique<Objects>(parts_)) {}
BareHypre::~BareHypre() = default;

bool BareHypre::isThere() { return true; }

void BareHypre::setUp() {
  Objects& o = *objects_;
  HYPRE_StructMatrixCreate(MPI_COMM_WORLD, o.grid, o.stencil, &o.matrix);
  HYPRE_StructMatrixInitialize(o.matrix);
  HYPRE_Int entries[kEntries] = {0, 1, 2, 3, 4, 5, 6};
  for (Part& part : parts_) {
    Corners at(part.cells);
    HYPRE_StructMatrixSetBoxValues(o.matrix, at.lower, at.upper, kEntries, entries, part.matrix.data());
  }
  HYPRE_StructMatrixAssemble(o.matrix);
  o.put(parts_);
  HYPRE_StructPFMGCreate(MPI_COMM_WORLD, &o.preconditioner);
  HYPRE_StructPFMGSetMaxIter(o.preconditioner, 1);
  HYPRE_StructPFMGSetTol(o.preconditioner, 0.0);
  HYPRE_StructPFMGSetZeroGuess(o.preconditioner);
  HYPRE_StructPFMGSetRelaxType(o.preconditioner, 1);
  HYPRE_StructPFMGSetNumPreRelax(o.preconditioner, 1);
  HYPRE_StructPFMGSetNumPostRelax(o.preconditioner, 1);
  HYPRE_StructPCGCreate(MPI_COMM_WORLD, &o.solver);
  HYPRE_StructPCGSetTwoNorm(o.solver, 1);
  HYPRE_StructPCGSetPrecond(o.solver, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, o.preconditioner);
  HYPRE_StructPCGSetup(o.solver, o.matrix, o.f, o.u);
}

std::int64_t BareHypre::solve(double tolerance, std::int64_t most) {
  Objects& o = *objects_;
  o.put(parts_);
  HYPRE_StructPCGSetTol(o.solver, tolerance);
  HYPRE_StructPCGSetMaxIter(o.solver, static_cast<HYPRE_Int>(most));
  HYPRE_StructPCGSolve(o.solver, o.matrix, o.f, o.u);
  std::vector<double> found;
  for (const Part& part : parts_) {
    found.resize(part.solution.size());
    Corners at(part.cells);
    HYPRE_StructVectorGetBoxValues(o.u, at.lower, at.upper, found.data());
  }
  HYPRE_Int iterations = 0;
  HYPRE_StructPCGGetNumIterations(o.solver, &iterations);
  HYPRE_ClearAllErrors();
  return iterations;
}

}  // namespace tessera::bench

#else

namespace tessera::bench {

struct BareHypre::Objects {};
BareHypre::BareHypre(std::vector<Part>) { throw InternalError("this build has no hypre"); }
BareHypre::~BareHypre() = default;
bool BareHypre::isThere() { return false; }
void BareHypre::setUp() {}
std::int64_t BareHypre::solve(double, std::int64_t) { return 0; }

}  // namespace tessera::bench

#endif
