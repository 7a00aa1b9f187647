// What a Poisson solve takes to a residual of 1e-8: our own multigrid beside PFMG with conjugate gradients of
// hypre, where the build has it, on the same matrix in the same boxes.
//
//   mpiexec -n R tessera_solve_bench [cells [--lines]]
//
// For constant and for varying coefficients, from one patch to 4 along each axis and rank (64 a rank):
// seconds of the set-up and a solve, of a solve that has it already, and iterations. The least of some runs,
// of the slowest rank.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <string>

#include "core/exec/exec.hpp"
#include "core/text/error.hpp"
#include "core/transport/mpi_session.hpp"
#include "core/transport/mpi_transport.hpp"
#include "grid/hierarchy.hpp"
#include "scheduler/solvers/exact_totals.hpp"
#include "scheduler/solvers/layer_exchange.hpp"
#include "scheduler/solvers/linear_solver.hpp"
#include "tools/bench/figure_lines.hpp"

namespace tessera::bench {
namespace {

constexpr double kTolerance = 1e-8;
constexpr int kRuns = 3;

struct SolveTimes {
  double withSetup = std::numeric_limits<double>::infinity();
  double kept = std::numeric_limits<double>::infinity();
  std::int64_t iterations = 0;
};

/// A cube with u = 0 on all sides, a source of many waves, and a coefficient of 1 or of 1 to 3.
class SolveCase {
 public:
  SolveCase(std::int64_t cells, Extent patches, bool varies, Transport& transport)
      : transport_(transport), cells_(cells), varies_(varies) {
    hierarchy_ = Hierarchy::uniform({{}, {1.0, 1.0, 1.0}, {cells, cells, cells}, {}},
                                    {Division::By::Patches, patches});
    system_.levels.push_back(std::make_unique<SystemLevel>(
        hierarchy_->level(0), distribute(*hierarchy_, transport.size()), transport));
  }

  SolveTimes run(SolverLibrary library) {
    SolverOptions options;
    options.library = library;
    options.tolerance = kTolerance;
    SolveTimes times;
    for (int run = 0; run < kRuns; ++run) {
      const auto solver = makeLinearSolver(options, system_, transport_);
      times.withSetup = std::min(times.withSetup, timeOf(*solver, times));
      times.kept = std::min(times.kept, timeOf(*solver, times));
    }
    return times;
  }

 private:
  double timeOf(LinearSolver& solver, SolveTimes& times) {
    fill();
    SolveReport report;
    transport_.barrier();
    const auto start = std::chrono::steady_clock::now();
    solver.solve(system_, report);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (report.result != SolveReport::Result::Converged) throw InternalError("a solve did not converge");
    times.iterations = report.iterations;
    return largestOfAll(spent.count(), transport_);
  }

  /// Of a face or a cell, by its index.
  double coefficient(Index x) const {
    if (!varies_) return 1.0;
    const double h = 1.0 / static_cast<double>(cells_);
    return 2.0 +
           std::sin(9.0 * h * static_cast<double>(x.i)) * std::cos(7.0 * h * static_cast<double>(x.j + x.k));
  }

  void fill() {
    SystemLevel& level = *system_.levels.front();
    const auto n = static_cast<double>(cells_);
    for (std::size_t b = 0; b < level.boxes.own.size(); ++b) {
      const Box& box = level.boxes.boxes[level.boxes.own[b]];
      for (int d = 0; d < kAxes; ++d) {
        const Field<double> k = level.system.matrix.faces[static_cast<std::size_t>(d)].field(b);
        Box faces = box;
        ++faces.hi[d];
        detail::forEachInOrder(faces, [&](Index x) {
          const bool isSide = x[d] == 0 || x[d] == cells_;
          k(x) = (isSide ? 2.0 : 1.0) * n * n * coefficient(x);
        });
      }
      const Field<double> f = level.system.rightHandSide.field(b);
      const Field<double> u = level.system.solution.field(b);
      detail::forEachInOrder(box, [&](Index x) {
        f(x) = std::sin(0.37 * static_cast<double>(x.i)) + static_cast<double>((x.j * 7 + x.k * 3) % 5) - 2.0;
        u(x) = 0.0;
      });
    }
    LayerExchange layers(level.boxes, LayerPart::WithSides, transport_);
    for (CellNumbers& faces : level.system.matrix.faces) layers.fill(faces);
    system_.scale = std::sqrt(totalOf(system_, &GridSystem::rightHandSide, Summand::Square, transport_));
  }

  Transport& transport_;
  const std::int64_t cells_;
  const bool varies_;
  std::shared_ptr<const Hierarchy> hierarchy_;
  SolverSystem system_;
};

void printRow(const FigureLines& lines, const std::string& name, const SolveTimes& times) {
  std::fprintf(lines.table(), "%-34s %9.3f %9.3f %6d\n", name.c_str(), times.withSetup, times.kept,
               static_cast<int>(times.iterations));
  std::fflush(lines.table());
}

void runCases(std::int64_t cells, const FigureLines& lines, Transport& transport) {
  const bool prints = transport.rank() == 0;
  const int ranks = transport.size();
  if (prints) {
    std::fprintf(lines.table(), "%d^3 cells, %d rank(s), to %g%21s %9s %6s\n", static_cast<int>(cells), ranks,
                 kTolerance, "with set-up", "kept", "its");
  }
  for (const bool varies : {false, true}) {
    for (const std::int64_t along : {1, 2, 4}) {
      SolveCase one(cells, {along, along, along * ranks}, varies, transport);
      const std::string name =
          std::string(varies ? "varying" : "constant") + "_patches_" + std::to_string(along * along * along);
      const SolveTimes own = one.run(SolverLibrary::Own);
      if (prints) printRow(lines, name + "_own", own);
      if (!hasHypre()) continue;
      const SolveTimes hypre = one.run(SolverLibrary::Hypre);
      if (!prints) continue;
      printRow(lines, name + "_hypre", hypre);
      lines.add("solve_" + name, hypre.withSetup / own.withSetup, "times_hypre", varies ? ">=1" : ">=1.5");
    }
  }
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  using namespace tessera;
  const bool lines = argc > 1 && std::strcmp(argv[argc - 1], "--lines") == 0;
  const std::int64_t cells = argc > (lines ? 2 : 1) ? std::atoll(argv[1]) : 128;
  if (cells < 8 || cells > 1024) {
    std::cerr << "usage: tessera_solve_bench [cells, 8 to 1024 [--lines]]\n";
    return 2;
  }
  const MpiSession mpi;
  MpiTransport transport;
  try {
    bench::runCases(cells, bench::FigureLines(lines), transport);
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    transport.abort(error.exitCode());
  }
  return 0;
}
