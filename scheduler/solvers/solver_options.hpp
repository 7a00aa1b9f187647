#pragma once

#include <cstdint>
#include <string>

#include "core/geometry/index.hpp"
#include "scheduler/solvers/device/device_traffic.hpp"

namespace tessera {

enum class SolverLibrary { Own, Hypre };
enum class SolverMethod { Cg, Gmres, BiCgStab };
enum class Preconditioner {
  Multigrid,  ///< own: geometric multigrid; hypre: PFMG
  Smg,        ///< of hypre
  Jacobi,
  None,
};

/// How linear systems are solved.
struct SolverOptions {
  SolverLibrary library = SolverLibrary::Own;
  SolverMethod method = SolverMethod::Cg;
  Preconditioner preconditioner = Preconditioner::Multigrid;
  double tolerance = 1e-10;          ///< of the residual's 2-norm, as a part of the right-hand side's
  double absoluteTolerance = 0.0;    ///< of the residual's 2-norm; the larger one counts
  std::int64_t maxIterations = 100;  ///< before the solve is given up
  std::int64_t setupEvery = 0;       ///< solves until the set-up is made anew in any case; 0: never
  /// Largest sum of the right-hand side of a system without a unique solution, as a part of the sum of its
  /// amounts; what is below it is taken away.
  double imbalance = 1e-2;
};

/// How a solve went; the same on every rank.
struct SolveReport {
  enum class Result {
    Converged,
    NotConverged,  ///< within the iterations allowed
    Impossible,    ///< the system has no solution, or is no system of numbers
  };
  Result result = Result::Converged;
  std::string failure{};  ///< a sentence with lines, where it is not Converged
  std::int64_t iterations = 0;
  double residual = 0.0;  ///< 2-norm at the end, as a part of the right-hand side's
  /// Of a system without a unique solution: what was taken away, as above; 0 where its author has done that.
  double imbalance = 0.0;
  bool madeSetup = false;  ///< in place of one that was kept
  double seconds = 0.0;    ///< of this rank
  DeviceTraffic device{};  ///< likewise
};

}  // namespace tessera
