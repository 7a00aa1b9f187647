#include "tools/simulation/deck/solver_table.hpp"

#include "core/deck/deck_diagnostics.hpp"
#include "scheduler/solvers/linear_solver.hpp"

namespace tessera {
namespace {

void checkSolver(const ParameterValues& solver, DeckDiagnostics& findings) {
  if (solver.choice("library") != "own") {
    if (hasHypre()) return;
    findings.error(
        solver.where("library"),
        "solver.library = \"hypre\", but this build has no hypre; run ./tessera setup --with-hypre, or "
        "take \"own\"");
    return;
  }
  if (solver.choice("method") == "gmres") {
    findings.error(solver.where("method"),
                   "solver.method = \"gmres\" needs solver.library = \"hypre\"; our own are \"cg\" and "
                   "\"bicgstab\"");
  }
  if (solver.choice("preconditioner") == "smg") {
    findings.error(solver.where("preconditioner"),
                   "solver.preconditioner = \"smg\" needs solver.library = \"hypre\"; our own are "
                   "\"multigrid\", \"jacobi\" and \"none\"");
  }
}

Preconditioner preconditionerOf(const std::string& name) {
  if (name == "smg") return Preconditioner::Smg;
  if (name == "jacobi") return Preconditioner::Jacobi;
  return name == "none" ? Preconditioner::None : Preconditioner::Multigrid;
}

SolverMethod methodOf(const std::string& name) {
  if (name == "gmres") return SolverMethod::Gmres;
  return name == "bicgstab" ? SolverMethod::BiCgStab : SolverMethod::Cg;
}

}  // namespace

ParameterTable solverTable() {
  ParameterTable table("solver", "How components solve linear systems");
  table.choice("library", {"own", "hypre"})
      .doc("who solves: Tessera, with the same bits on any ranks and patches, or hypre")
      .defaultsTo("own");
  table.choice("method", {"cg", "gmres", "bicgstab"})
      .doc(
          "the iteration: conjugate gradients (on several levels BiCGSTAB takes their place), BiCGSTAB; of "
          "hypre also GMRES")
      .defaultsTo("cg");
  table.choice("preconditioner", {"multigrid", "smg", "jacobi", "none"})
      .doc(
          "what improves its steps: \"multigrid\" is PFMG in hypre, on several levels BoomerAMG; \"smg\" is "
          "hypre's alone, for one level")
      .defaultsTo("multigrid");
  table.real("tolerance")
      .doc("largest residual at the end, in the 2-norm and as a part of the right-hand side's")
      .above(0)
      .below(1)
      .defaultsTo(1e-10)
      .mayChangeOnRestart();
  table.real("absolute_tolerance")
      .doc("likewise as a number; the larger of the two counts")
      .atLeast(0)
      .defaultsTo(0)
      .mayChangeOnRestart();
  table.integer("max_iterations")
      .doc("iterations of a solve at most")
      .range(1, 1000000)
      .defaultsTo(100)
      .mayChangeOnRestart();
  table.integer("setup_every")
      .doc("solves after which the set-up is made anew though the matrix is the same; 0: never")
      .atLeast(0)
      .defaultsTo(0)
      .mayChangeOnRestart();
  table.real("imbalance")
      .doc(
          "where no side gives a value: the sum of the right-hand side that is taken for rounding, as a part "
          "of the sum of its amounts")
      .range(0, 1)
      .defaultsTo(0.01)
      .mayChangeOnRestart();
  table.choice("on_failure", {"stop", "retry", "warn"})
      .doc(
          "what to do when a solve does not come to its tolerance; \"retry\": take the step again, half as "
          "long (time.retries)")
      .defaultsTo("stop")
      .mayChangeOnRestart();
  table.check(checkSolver);
  return table;
}

SolverSettings solverSettingsOf(const ParameterValues& solver) {
  SolverSettings settings;
  SolverOptions& o = settings.options;
  o.library = solver.choice("library") == "hypre" ? SolverLibrary::Hypre : SolverLibrary::Own;
  o.method = methodOf(solver.choice("method"));
  o.preconditioner = preconditionerOf(solver.choice("preconditioner"));
  o.tolerance = solver.real("tolerance");
  o.absoluteTolerance = solver.real("absolute_tolerance");
  o.maxIterations = solver.integer("max_iterations");
  o.setupEvery = solver.integer("setup_every");
  o.imbalance = solver.real("imbalance");
  const std::string& failure = solver.choice("on_failure");
  settings.onFailure = failure == "retry"  ? SolveFailure::Retry
                       : failure == "warn" ? SolveFailure::Warn
                                           : SolveFailure::Stop;
  return settings;
}

}  // namespace tessera
