#include "scheduler/solvers/hypre/hypre_composite.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/text/error.hpp"
#include "scheduler/solvers/composite/composite_rows.hpp"
#include "scheduler/solvers/exact_totals.hpp"
#include "scheduler/solvers/hypre/hypre_calls.hpp"

#if defined(TESSERA_HAVE_HYPRE)
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>

#include <mpi.h>
#endif

namespace tessera {

void requireCountable(std::int64_t rows, std::int64_t rowsOfRank) {
  // Seven entries in most rows, some twenty beside finer levels, and no more on the coarser levels together.
  constexpr std::int64_t kMostEntries = 24;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (rows <= kMost && rowsOfRank <= kMost / kMostEntries) return;
  throw DeckError(Message("a linear system on several levels has more cells than hypre counts")
                      .line("cells  ", rows, " in all, at most ", kMost)
                      .line("rank   ", rowsOfRank, " on one rank, at most ", kMost / kMostEntries)
                      .line("fix    take more ranks, or solver.library = \"own\"")
                      .text());
}

#if defined(TESSERA_HAVE_HYPRE)

/// What hypre has of ours; freed in the reverse order.
struct HypreComposite::Objects {
  Objects(const SolverOptions& options, const SolverSystem& system, const Transport& transport)
      : ranks(transport),
        rows(system, transport.size()),
        first(rows.firstOf(transport.rank())),
        own(rows.endOf(transport.rank()) - first),
        isGmres(options.method != SolverMethod::BiCgStab),
        kind(options.preconditioner) {
    std::int64_t most = 0;
    for (int rank = 0; rank < transport.size(); ++rank)
      most = std::max(most, rows.endOf(rank) - rows.firstOf(rank));
    requireCountable(rows.count(), most);
    for (HYPRE_IJVector* vector : {&rightHandSide, &solution}) {
      HYPRE_IJVectorCreate(communicator, lower(), upper(), vector);
      HYPRE_IJVectorSetObjectType(*vector, HYPRE_PARCSR);
      checkHypre(HYPRE_IJVectorInitialize(*vector), "the vectors");
    }
    numbers.resize(static_cast<std::size_t>(own));
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;
  ~Objects() {
    freeSolvers();
    if (matrix != nullptr) HYPRE_IJMatrixDestroy(matrix);
    HYPRE_IJVectorDestroy(solution);
    HYPRE_IJVectorDestroy(rightHandSide);
  }

  void freeSolvers() {
    if (solver != nullptr) isGmres ? HYPRE_ParCSRGMRESDestroy(solver) : HYPRE_ParCSRBiCGSTABDestroy(solver);
    if (preconditioner != nullptr) HYPRE_BoomerAMGDestroy(preconditioner);
    solver = preconditioner = nullptr;
  }
  HYPRE_BigInt lower() const { return static_cast<HYPRE_BigInt>(first); }
  HYPRE_BigInt upper() const { return static_cast<HYPRE_BigInt>(first + own - 1); }

  void setMatrix(SolverSystem& system, CompositeOperator& composite) {
    if (matrix != nullptr) HYPRE_IJMatrixDestroy(matrix);
    HYPRE_IJMatrixCreate(communicator, lower(), upper(), lower(), upper(), &matrix);
    HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(matrix);
    std::vector<HYPRE_BigInt> columns;
    std::vector<double> entriesOfRow;
    CompositeRows(system, composite, rows)
        .forEach([&](std::int64_t at, std::span<const CompositeRows::Entry> entries) {
          columns.clear();
          entriesOfRow.clear();
          for (const CompositeRows::Entry& entry : entries) {
            columns.push_back(static_cast<HYPRE_BigInt>(entry.column));
            entriesOfRow.push_back(entry.number);
          }
          auto count = static_cast<HYPRE_Int>(entries.size());
          const auto row = static_cast<HYPRE_BigInt>(at);
          HYPRE_IJMatrixSetValues(matrix, 1, &count, &row, columns.data(), entriesOfRow.data());
        });
    checkHypre(HYPRE_IJMatrixAssemble(matrix), "the matrix");
  }

  /// Calls `visit(level, own box number, cell, number of its row)`.
  template <class Visit>
  void forEachRow(const SolverSystem& system, const Visit& visit) {
    double* at = numbers.data();
    forEachLevelBox(system, [&](std::size_t n, std::size_t m, const Box& box) {
      detail::forEachInOrder(box, [&](Index x) { visit(n, m, x, *at++); });
    });
  }

  /// Of rows, which have the weights of their cells.
  void setVector(const SolverSystem& system, const LevelNumbers& from) {
    forEachRow(system, [&](std::size_t n, std::size_t m, Index x, double& number) {
      number = system.levels[n]->weights.field(m)(x) * from[n].field(m)(x);
    });
    HYPRE_IJVectorSetValues(rightHandSide, static_cast<HYPRE_Int>(own), nullptr, numbers.data());
    checkHypre(HYPRE_IJVectorAssemble(rightHandSide), "the right-hand side");
    std::fill(numbers.begin(), numbers.end(), 0.0);
    HYPRE_IJVectorSetValues(solution, static_cast<HYPRE_Int>(own), nullptr, numbers.data());
    checkHypre(HYPRE_IJVectorAssemble(solution), "the solution");
  }
  void addSolution(const SolverSystem& system, LevelNumbers& to) {
    HYPRE_IJVectorGetValues(solution, static_cast<HYPRE_Int>(own), nullptr, numbers.data());
    forEachRow(system,
               [&](std::size_t n, std::size_t m, Index x, double& number) { to[n].field(m)(x) += number; });
  }

  /// BoomerAMG as one cycle from zero, smoothed by Gauss-Seidel forwards before and backwards behind.
  void makePreconditioner(bool isSingular, bool isFlat) {
    HYPRE_BoomerAMGCreate(&preconditioner);
    HYPRE_BoomerAMGSetMaxIter(preconditioner, 1);
    HYPRE_BoomerAMGSetTol(preconditioner, 0.0);
    HYPRE_BoomerAMGSetPrintLevel(preconditioner, 0);
    HYPRE_BoomerAMGSetStrongThreshold(preconditioner, isFlat ? 0.25 : 0.5);
    // Elimination on the coarsest level would divide by what rounding makes of 0.
    if (!isSingular) return;
    HYPRE_BoomerAMGSetCycleRelaxType(preconditioner, 8, 3);
    HYPRE_BoomerAMGSetCycleNumSweeps(preconditioner, 4, 3);
  }

  void makeSolver(bool isSingular, bool isFlat) {
    freeSolvers();
    if (kind == Preconditioner::Multigrid) makePreconditioner(isSingular, isFlat);
    const bool isAmg = preconditioner != nullptr;
    const bool isAny = kind != Preconditioner::None;
    const auto apply = isAmg ? HYPRE_BoomerAMGSolve : HYPRE_ParCSRDiagScale;
    const auto prepare = isAmg ? HYPRE_BoomerAMGSetup : HYPRE_ParCSRDiagScaleSetup;
    if (isGmres) {
      HYPRE_ParCSRGMRESCreate(communicator, &solver);
      if (isAny) HYPRE_ParCSRGMRESSetPrecond(solver, apply, prepare, preconditioner);
      checkHypre(HYPRE_ParCSRGMRESSetup(solver, parMatrix(), inner(rightHandSide), inner(solution)),
                 "the set-up of GMRES");
    } else {
      HYPRE_ParCSRBiCGSTABCreate(communicator, &solver);
      if (isAny) HYPRE_ParCSRBiCGSTABSetPrecond(solver, apply, prepare, preconditioner);
      checkHypre(HYPRE_ParCSRBiCGSTABSetup(solver, parMatrix(), inner(rightHandSide), inner(solution)),
                 "the set-up of BiCGSTAB");
    }
  }

  /// The number of iterations. Our own residual finds that an iteration has broken down.
  std::int64_t solve(double tolerance, std::int64_t atMost) {
    const auto most =
        static_cast<HYPRE_Int>(std::min<std::int64_t>(atMost, std::numeric_limits<HYPRE_Int>::max()));
    const auto check = [](HYPRE_Int code, const char* what) {
      checkHypre(code & ~(HYPRE_ERROR_GENERIC | HYPRE_ERROR_CONV), what);
    };
    HYPRE_Int iterations = 0;
    if (isGmres) {
      HYPRE_ParCSRGMRESSetTol(solver, tolerance);
      HYPRE_ParCSRGMRESSetMaxIter(solver, most);
      check(HYPRE_ParCSRGMRESSolve(solver, parMatrix(), inner(rightHandSide), inner(solution)), "GMRES");
      HYPRE_ParCSRGMRESGetNumIterations(solver, &iterations);
    } else {
      HYPRE_ParCSRBiCGSTABSetTol(solver, tolerance);
      HYPRE_ParCSRBiCGSTABSetMaxIter(solver, most);
      check(HYPRE_ParCSRBiCGSTABSolve(solver, parMatrix(), inner(rightHandSide), inner(solution)),
            "BiCGSTAB");
      HYPRE_ParCSRBiCGSTABGetNumIterations(solver, &iterations);
    }
    return iterations;
  }

  HYPRE_ParCSRMatrix parMatrix() const {
    void* object = nullptr;
    HYPRE_IJMatrixGetObject(matrix, &object);
    return static_cast<HYPRE_ParCSRMatrix>(object);
  }
  static HYPRE_ParVector inner(HYPRE_IJVector vector) {
    void* object = nullptr;
    HYPRE_IJVectorGetObject(vector, &object);
    return static_cast<HYPRE_ParVector>(object);
  }

  const HypreRanks ranks;
  const MPI_Comm communicator = MPI_Comm_f2c(ranks.handle());
  const RowNumbers rows;
  const std::int64_t first;  ///< own row
  const std::int64_t own;    ///< rows
  const bool isGmres;
  const Preconditioner kind;
  HYPRE_IJMatrix matrix = nullptr;
  HYPRE_IJVector rightHandSide = nullptr;
  HYPRE_IJVector solution = nullptr;
  HYPRE_Solver solver = nullptr;
  HYPRE_Solver preconditioner = nullptr;
  std::vector<double> numbers;
};

HypreComposite::HypreComposite(const SolverOptions& options, SolverSystem& system, Transport& transport)
    : options_(options),
      system_(system),
      transport_(transport),
      composite_(system, transport),
      kept_(system, options.setupEvery),
      f_(system.levels.size()),
      u_(system.levels.size()),
      residual_(numbersOf(system)) {
  if (options.preconditioner == Preconditioner::Smg) {
    throw DeckError(
        Message("hypre's SMG knows one level")
            .line("levels  ", system.levels.size())
            .line("fix     take solver.preconditioner = \"multigrid\", BoomerAMG on several levels")
            .text());
  }
  objects_ = std::make_unique<Objects>(options, system, transport);
}

HypreComposite::~HypreComposite() = default;

void HypreComposite::exchange() {
  for (std::size_t n = 0; n < f_.size(); ++n) {
    std::swap(f_[n], system_.levels[n]->system.rightHandSide);
    std::swap(u_[n], system_.levels[n]->system.solution);
  }
}

bool HypreComposite::setUp() {
  const bool isDue = kept_.isDue(system_, transport_);
  composite_.prepare();
  if (!isDue) return false;
  objects_->setMatrix(system_, composite_);
  const auto& active = system_.levels.front()->boxes.active;
  objects_->makeSolver(system_.isSingular, !(active[0] && active[1] && active[2]));
  return true;
}

void HypreComposite::solve(SolverSystem& system, SolveReport& report) {
  report.madeSetup = setUp();
  exchange();
  iterate(report, std::max(options_.tolerance * system.scale, options_.absoluteTolerance));
  if (system.scale > 0.0) report.residual /= system.scale;
  if (report.result == SolveReport::Result::NotConverged) f_.swap(residual_);
  exchange();
}

/// hypre's norm is of rows with their weights, so its tolerance may be met before ours: then once more.
void HypreComposite::iterate(SolveReport& report, double enough) {
  constexpr double kSafety = 0.9;
  for (std::int64_t before = -1;;) {
    composite_.residual(f_, u_, residual_);
    report.residual = std::sqrt(dotOf(system_, residual_, residual_, transport_));
    const bool goesOn = report.iterations < options_.maxIterations && report.iterations > before;
    if (report.residual <= enough || !goesOn || !std::isfinite(report.residual)) break;
    before = report.iterations;
    objects_->setVector(system_, residual_);
    report.iterations +=
        objects_->solve(kSafety * enough / report.residual, options_.maxIterations - report.iterations);
    objects_->addSolution(system_, u_);
  }
  report.result =
      report.residual <= enough ? SolveReport::Result::Converged : SolveReport::Result::NotConverged;
}

#else

struct HypreComposite::Objects {};

HypreComposite::HypreComposite(const SolverOptions& options, SolverSystem& system, Transport& transport)
    : options_(options),
      system_(system),
      transport_(transport),
      composite_(system, transport),
      kept_(system, options.setupEvery) {
  throwWithoutHypre();
}

HypreComposite::~HypreComposite() = default;

void HypreComposite::solve(SolverSystem&, SolveReport&) {}

#endif

}  // namespace tessera
